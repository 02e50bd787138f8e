// What can be asked for, and what is left of it once nothing is optional any more. Paths are made absolute and
// real here, before anybody binds them: a link inside the workspace must not lead a mount elsewhere.
import { userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { NetworkAccess, SandboxProfile } from "../engine/confinement.ts";
import { NacreError } from "../support/errors.ts";
import { homeDirectory } from "../support/home-directory.ts";
import { policyFolders } from "../support/policy-places.ts";
import { type CredentialPlaces, credentialPlaces } from "./find-credentials.ts";
import { isWithin, realPath } from "./real-path.ts";
import type { TrustedPath } from "./trusted-base.ts";

export interface SandboxOptions {
  /** What commands may touch: everything, nothing for writing, or the workspace for writing. @default "off" */
  readonly sandbox?: SandboxProfile;
  /** Of sandboxed commands; "none" leaves them a loopback of their own. @default "none" */
  readonly network?: NetworkAccess;
  /** The directory that "workspace-write" lets them write to. @default where a command starts */
  readonly workspace?: string;
  /** More paths they may write to. Relative ones count from the workspace, ~ is the home directory. */
  readonly writable?: readonly string[];
  /** More paths they cannot see into, besides keys and credentials. */
  readonly hide?: readonly string[];
  /** Lets them write .git/config, which can name programs that git runs later. @default false */
  readonly gitConfig?: boolean;
  /** Lets them trace and read the memory of each other, as gdb and strace do. @default false */
  readonly debuggers?: boolean;
  /** Runs without a sandbox where it cannot be enforced, and says so in every result. @default false */
  readonly allowUnsandboxed?: boolean;
}

/** One workspace and all that counts for the commands in it. Paths are absolute and without links. */
export interface SandboxSpec {
  readonly profile: Exclude<SandboxProfile, "off">;
  readonly network: NetworkAccess;
  readonly workspace: string;
  readonly writable: readonly string[];
  readonly hide: readonly string[];
  readonly homes: readonly string[];
  readonly credentials: CredentialPlaces;
  /** Our own, hidden from every command. */
  readonly stateRoots: readonly string[];
  /** What runs outside, or is read there, and lies in something writable. */
  readonly trusted: readonly TrustedPath[];
  /** Folders with rules of the workspace, whether they exist or not, in something writable. */
  readonly policyFolders: readonly string[];
  readonly gitConfig: boolean;
  readonly debuggers: boolean;
}

/** undefined where no sandbox is asked for. */
export function sandboxSpec(
  options: SandboxOptions,
  place: {
    readonly workspace: string;
    readonly stateRoots: readonly string[];
    readonly trusted: readonly TrustedPath[];
  },
): SandboxSpec | undefined {
  const { sandbox: profile = "off", network = "none" } = options;
  if (profile === "off") return undefined;
  const workspace = realPath(place.workspace);
  if (workspace === "/" && profile === "workspace-write") {
    throw new NacreError(
      "invalid_input",
      'The workspace is /, so "workspace-write" would protect nothing. Start in the directory of the project, or use "read-only".',
    );
  }
  const own = (path: string) => realPath(absolute(path, workspace));
  const writable = (options.writable ?? []).map(own);
  if (writable.includes("/")) {
    throw new NacreError(
      "invalid_input",
      "writable: / would leave nothing of the sandbox. Name the directories that are needed.",
    );
  }
  const homes = ownHomes();
  const roots = profile === "workspace-write" ? [workspace, ...writable] : writable;
  return {
    profile,
    network,
    workspace,
    writable: roots,
    hide: (options.hide ?? []).map(own),
    homes,
    credentials: credentialPlaces(homes),
    stateRoots: unique(place.stateRoots.map(realPath)),
    trusted: place.trusted.filter(({ path }) =>
      roots.some((root) => isWithin(path, root) || isWithin(root, path)),
    ),
    policyFolders: policyFolders(workspace).filter((path) => roots.some((root) => isWithin(path, root))),
    gitConfig: options.gitConfig ?? false,
    debuggers: options.debuggers ?? false,
  };
}

/** Where HOME says and where the system says. A user that the system does not know has none. */
function ownHomes(): string[] {
  const found = [homeDirectory, () => userInfo().homedir].flatMap((get) => {
    try {
      return [realPath(get())];
    } catch {
      return [];
    }
  });
  return unique(found).filter((home) => home !== "/");
}

function absolute(path: string, workspace: string): string {
  if (path === "" || path.includes("\0")) {
    throw new NacreError("invalid_input", `Not a path: ${JSON.stringify(path)}`);
  }
  if (path === "~" || path.startsWith("~/")) return join(homeDirectory(), path.slice(1));
  return isAbsolute(path) ? path : resolve(workspace, path);
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)];
}
