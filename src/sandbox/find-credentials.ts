// Finds the paths to hide: listed credentials that exist on this machine, and nacre's rules. Every start of a sandbox
// runs this search. To make it fast, the list is a tree: a missing directory costs one system call, regardless of the
// number of listed paths below it.
import { accessSync, constants } from "node:fs";
import { isAbsolute, join } from "node:path";
import { attempt } from "../support/attempt.ts";
import {
  HOME_CREDENTIALS,
  MACHINE_CREDENTIALS,
  RELOCATIONS,
  STEERING_CREDENTIALS,
} from "../support/credential-paths.ts";
import { CREDENTIAL_LISTING_MIN_COUNT, OTHER_HOMES_MAX_COUNT } from "../support/limits.ts";
import type { ListedPath } from "../support/listed-paths.ts";
import { fsPath, isWithin, namesIn } from "../support/path-text.ts";
import { kindOf, realPath } from "./real-path.ts";

/** Locations of credentials in addition to this user's home directories. Determined once for a sandbox's options. */
export interface CredentialLocations {
  /** Home directories of other users that this user can enter. */
  readonly otherHomes: readonly string[];
  /** Paths from environment variables, each with the path in a home directory that it replaces. */
  readonly moved: readonly { readonly path: string; readonly from: string }[];
}

interface Branch {
  readonly below: Map<string, Branch>;
  entry?: ListedPath;
}

const IN_HOME = treeOf(HOME_CREDENTIALS);
const OF_MACHINE = treeOf(MACHINE_CREDENTIALS);

/**
 * Parent and name of the folder with the user's rules. Sandboxes hide this folder, because a command that reads the
 * rules learns how to bypass them.
 */
const CONFIG = ".config";
const OWN_RULES = "nacre";

/** Every path to hide: credentials and nacre's rules. */
export function findSecrets(homes: readonly string[], locations: CredentialLocations): ListedPath[] {
  // XDG_CONFIG_HOME moves the folder with the rules.
  const moved = locations.moved.filter(({ from }) => from === CONFIG).map(({ path }) => path);
  const configs = [...homes.map((home) => join(home, CONFIG)), ...moved];
  const rules = configs.map((config) => ({ path: join(config, OWN_RULES), kind: "directory" }) as const);
  return [...findCredentials(homes, locations), ...rules];
}

/** The listed paths that exist, and missing paths that commands must not create because tools obey them. */
export function findCredentials(
  homes: readonly string[],
  { otherHomes, moved }: CredentialLocations,
): ListedPath[] {
  const found: ListedPath[] = [];
  for (const home of homes) {
    collect(home, IN_HOME, found);
    for (const { path, kind } of STEERING_CREDENTIALS) found.push({ path: join(home, path), kind });
  }
  for (const { path, from } of moved) {
    const branch = branchAt(IN_HOME, from);
    if (branch) collect(path, branch, found);
  }
  const others: ListedPath[] = [];
  for (const home of otherHomes) collect(home, IN_HOME, others);
  collect("/", OF_MACHINE, others);
  // Do not mask what this user cannot read anyway, such as most files of other users.
  found.push(...others.filter(({ path }) => isReachable(path)));
  return found;
}

export function credentialLocations(
  homes: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): CredentialLocations {
  return { otherHomes: otherHomes(homes), moved: relocated(homes, environment) };
}

function collect(path: string, { entry, below }: Branch, found: ListedPath[]): void {
  if (entry) {
    if (kindOf(path) !== undefined) found.push({ path, kind: entry.kind });
    return;
  }
  // One directory listing is cheaper than many stat calls.
  const names = below.size >= CREDENTIAL_LISTING_MIN_COUNT ? listed(path) : undefined;
  for (const [name, branch] of below) {
    if (names && !names.has(name)) continue;
    const at = join(path, name);
    if (names || branch.entry || kindOf(at) !== undefined) collect(at, branch, found);
  }
}

/**
 * The names in the directory. undefined if the directory cannot be listed. Individual names in it may still be
 * accessible.
 */
function listed(directory: string): ReadonlySet<string> | undefined {
  const names = attempt(() => namesIn(directory));
  return names && new Set(names);
}

function isReachable(path: string): boolean {
  const isAllowed = (mode: number) => attempt(() => accessSync(fsPath(path), mode) ?? true) ?? false;
  return isAllowed(constants.R_OK) || (kindOf(path) === "directory" && isAllowed(constants.X_OK));
}

function otherHomes(own: readonly string[]): string[] {
  const names = [...(listed("/home") ?? [])].sort().slice(0, OTHER_HOMES_MAX_COUNT);
  return ["/root", ...names.map((name) => join("/home", name))].filter(
    (home) => !own.includes(home) && kindOf(home) === "directory" && isReachable(home),
  );
}

/**
 * Credentials at the paths that variables name. Ignores values that would hide a home directory, and paths in the
 * system's directories: HISTFILE is often /dev/null.
 */
function relocated(
  homes: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): CredentialLocations["moved"] {
  return Object.entries(RELOCATIONS).flatMap(([variable, from]) =>
    (environment[variable] ?? "").split(":").flatMap((value) => {
      if (!isAbsolute(value)) return [];
      const path = realPath(value);
      const hidesHome = branchAt(IN_HOME, from)?.entry && homes.some((home) => isWithin(home, path));
      const isSystem = ["/dev", "/proc", "/sys"].some((directory) => isWithin(path, directory));
      return hidesHome || isSystem ? [] : [{ path, from }];
    }),
  );
}

function treeOf(list: readonly ListedPath[]): Branch {
  const root: Branch = { below: new Map() };
  for (const entry of list) {
    let at = root;
    for (const part of entry.path.split("/")) {
      const next = at.below.get(part) ?? { below: new Map() };
      at.below.set(part, next);
      at = next;
    }
    at.entry = entry;
  }
  return root;
}

function branchAt(root: Branch, path: string): Branch | undefined {
  let at: Branch | undefined = root;
  for (const part of path.split("/")) at = at?.below.get(part);
  return at;
}
