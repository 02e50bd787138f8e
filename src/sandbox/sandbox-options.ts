// The sandbox options and the specification derived from them. All paths are resolved before they are mounted:
// otherwise a link inside the workspace could redirect a mount.
import { userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { NetworkAccess, SandboxProfile } from "../engine/confinement.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { homeDirectory } from "../support/home-directory.ts";
import { isWithin } from "../support/path-text.ts";
import { policyFolders } from "../support/policy-places.ts";
import { type CredentialLocations, credentialLocations } from "./find-credentials.ts";
import { realPath } from "./real-path.ts";
import type { TrustedPath } from "./trusted-base.ts";

export interface SandboxOptions {
  /**
   * What commands can write. "off": everything. "read-only": nothing. "workspace-write": the workspace. @default "off"
   */
  readonly sandbox?: SandboxProfile;
  /** The network of sandboxed commands. With "none", they have only their own loopback interface. @default "none" */
  readonly network?: NetworkAccess;
  /** The directory that "workspace-write" makes writable. @default the directory of the command */
  readonly workspace?: string;
  /** Additional writable paths, relative to the workspace; ~ is the home directory. */
  readonly writable?: readonly string[];
  /** Paths to hide in addition to credentials. */
  readonly hide?: readonly string[];
  /** Lets commands write .git/config, which can name programs that git runs later. @default false */
  readonly gitConfig?: boolean;
  /** Lets commands trace each other and read each other's memory, as gdb and strace do. @default false */
  readonly debuggers?: boolean;
  /** Runs commands without a sandbox if it is unavailable; every result then says so. @default false */
  readonly allowUnsandboxed?: boolean;
}

/** The sandbox of one workspace, with all defaults filled in. Paths are absolute and resolved. */
export interface SandboxSpec {
  readonly profile: Exclude<SandboxProfile, "off">;
  readonly network: NetworkAccess;
  readonly workspace: string;
  readonly writable: readonly string[];
  readonly hide: readonly string[];
  readonly homes: readonly string[];
  readonly credentials: CredentialLocations;
  /** nacre's state roots, hidden from every command. */
  readonly stateRoots: readonly string[];
  /** State roots of other running hosts, also hidden. They can vanish at any moment. */
  readonly transientRoots: readonly string[];
  /** Files that nacre runs or reads outside the sandbox, if they are in a writable path. */
  readonly trusted: readonly TrustedPath[];
  /** Rule folders of the workspace in writable paths, whether or not they exist. */
  readonly policyFolders: readonly string[];
  readonly gitConfig: boolean;
  readonly debuggers: boolean;
  /** Whether files that other programs obey, such as git hooks, are protected in writable paths. */
  readonly isGuarded: boolean;
}

/** undefined if no sandbox is requested. */
export function sandboxSpec(
  options: SandboxOptions,
  context: {
    readonly workspace: string;
    readonly stateRoots: readonly string[];
    readonly trusted: readonly TrustedPath[];
  },
): SandboxSpec | undefined {
  const { sandbox: profile = "off", network = "none" } = options;
  if (profile === "off") return undefined;
  const workspace = realPath(context.workspace);
  if (workspace === "/" && profile === "workspace-write") {
    throw new NacreError(
      "invalid_input",
      'The workspace is /, so "workspace-write" would protect nothing. Start in the project directory, or use "read-only".',
    );
  }
  const resolved = (path: string) => realPath(absolute(path, workspace));
  const writable = (options.writable ?? []).map(resolved);
  if (writable.includes("/")) {
    throw new NacreError(
      "invalid_input",
      "writable: / would turn the sandbox off. Name the directories that commands need to write.",
    );
  }
  const homes = ownHomes();
  const roots = profile === "workspace-write" ? [workspace, ...writable] : writable;
  return {
    profile,
    network,
    workspace,
    writable: roots,
    hide: (options.hide ?? []).map(resolved),
    homes,
    credentials: credentialLocations(homes),
    stateRoots: unique(context.stateRoots.map(realPath)),
    transientRoots: [],
    trusted: context.trusted.filter(({ path }) =>
      roots.some((root) => isWithin(path, root) || isWithin(root, path)),
    ),
    policyFolders: policyFolders(workspace).filter((path) => roots.some((root) => isWithin(path, root))),
    gitConfig: options.gitConfig ?? false,
    debuggers: options.debuggers ?? false,
    isGuarded: true,
  };
}

/** The home directories from HOME and from the user database. An unknown user has none. */
function ownHomes(): string[] {
  const found = [homeDirectory, () => userInfo().homedir].flatMap(
    (get) => attempt(() => realPath(get())) ?? [],
  );
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
