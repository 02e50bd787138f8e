// The credentials that exist on this machine, of those that are listed. Starting a sandbox asks for them every time,
// so the search is a walk over the list as a tree: a directory that is missing costs one system call, whatever is
// listed below it.
import { accessSync, constants, lstatSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { attempt } from "../support/attempt.ts";
import {
  type CredentialPath,
  HOME_CREDENTIALS,
  MACHINE_CREDENTIALS,
  RELOCATIONS,
} from "../support/credential-paths.ts";
import { CREDENTIAL_LISTING_MIN_COUNT, OTHER_HOMES_MAX_COUNT } from "../support/limits.ts";
import { fsPath, namesIn } from "../support/path-text.ts";
import { isWithin, kindOf, realPath } from "./real-path.ts";

/** A place that is hidden. */
export interface Secret {
  readonly path: string;
  readonly kind: "directory" | "file";
}

/** Where credentials can lie besides the homes of this user; found once for a sandbox's options. */
export interface CredentialPlaces {
  /** Homes of other users that this one may enter. */
  readonly otherHomes: readonly string[];
  /** Places that variables name, with the place in a home that each stands for. */
  readonly moved: readonly { readonly path: string; readonly from: string }[];
}

interface Branch {
  readonly below: Map<string, Branch>;
  entry?: CredentialPath;
}

const IN_HOME = treeOf(HOME_CREDENTIALS);
const OF_MACHINE = treeOf(MACHINE_CREDENTIALS);
const STEERING = HOME_CREDENTIALS.filter(({ steers }) => steers);

/** Everything of the list that is there, and what must not be made where it is not. */
export function findCredentials(homes: readonly string[], { otherHomes, moved }: CredentialPlaces): Secret[] {
  const found: Secret[] = [];
  for (const home of homes) {
    collect(home, IN_HOME, found);
    for (const { path, kind } of STEERING) found.push({ path: join(home, path), kind });
  }
  for (const { path, from } of moved) {
    const branch = branchAt(IN_HOME, from);
    if (branch) collect(path, branch, found);
  }
  const others: Secret[] = [];
  for (const home of otherHomes) collect(home, IN_HOME, others);
  collect("/", OF_MACHINE, others);
  // What belongs to others is mostly closed to this user already.
  found.push(...others.filter(({ path }) => isReachable(path)));
  return found;
}

export function credentialPlaces(
  homes: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): CredentialPlaces {
  return { otherHomes: otherHomes(homes), moved: movedPlaces(homes, environment) };
}

function collect(path: string, { entry, below }: Branch, found: Secret[]): void {
  if (entry) {
    if (kindOf(path) !== undefined) found.push({ path, kind: entry.kind });
    return;
  }
  // One listing is cheaper than many questions.
  const names = below.size >= CREDENTIAL_LISTING_MIN_COUNT ? listed(path) : undefined;
  for (const [name, branch] of below) {
    if (names && !names.has(name)) continue;
    const at = join(path, name);
    if (names || branch.entry || isThere(at)) collect(at, branch, found);
  }
}

/** undefined where it cannot be listed: names may work all the same. */
function listed(directory: string): ReadonlySet<string> | undefined {
  const names = attempt(() => namesIn(directory));
  return names && new Set(names);
}

function isThere(path: string): boolean {
  return attempt(() => lstatSync(fsPath(path), { throwIfNoEntry: false })) !== undefined;
}

function isReachable(path: string): boolean {
  const may = (mode: number) => attempt(() => accessSync(fsPath(path), mode) ?? true) ?? false;
  return may(constants.R_OK) || (kindOf(path) === "directory" && may(constants.X_OK));
}

function otherHomes(own: readonly string[]): string[] {
  const names = [...(listed("/home") ?? [])].sort().slice(0, OTHER_HOMES_MAX_COUNT);
  return ["/root", ...names.map((name) => join("/home", name))].filter(
    (home) => !own.includes(home) && kindOf(home) === "directory" && isReachable(home),
  );
}

/**
 * A value that would hide a home, or a device such as the /dev/null that HISTFILE is often set to, is not taken for a
 * place of credentials.
 */
function movedPlaces(
  homes: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): CredentialPlaces["moved"] {
  return Object.entries(RELOCATIONS).flatMap(([variable, from]) =>
    (environment[variable] ?? "").split(":").flatMap((value) => {
      if (!isAbsolute(value)) return [];
      const path = realPath(value);
      const hidesHome = branchAt(IN_HOME, from)?.entry && homes.some((home) => isWithin(home, path));
      const isSystem = ["/dev", "/proc", "/sys"].some((place) => isWithin(path, place));
      return hidesHome || isSystem ? [] : [{ path, from }];
    }),
  );
}

function treeOf(list: readonly CredentialPath[]): Branch {
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
