// Resolves an evaluated word against a directory and classifies the path. This file uses only the text of the path;
// links.ts adds the targets of symbolic links.

import { BRACKET, DEEP, MANY, QUESTION, SOMETHING, STAR, UNKNOWN } from "../shell-model/marks.ts";
import type { PolicyFacts } from "../verdict.ts";
import { isMachineCredential } from "./credentials.ts";
import { classOf, type PathClass } from "./path-class.ts";

/** The directories that paths are compared with, normalized once. */
export interface Where {
  readonly home: string;
  readonly workspace: string;
  readonly isRoot: boolean;
  readonly homeParts: readonly string[];
  readonly workspaceParts: readonly string[];
  readonly policyParts: readonly (readonly string[])[];
}

export interface ResolvedPath {
  /** The resolved path, marks included. */
  readonly path: string;
  readonly class: PathClass;
  /** Whether the word means the content of a directory (`dir/*`), not the directory itself. */
  readonly contents: boolean;
  /** Whether the word means many files at any depth, such as the results of find. */
  readonly spread: boolean;
}

export function describeWhere({ home, cwd, workspace = cwd, isRoot = false, ...facts }: PolicyFacts): Where {
  const known = (path: string) => normalise(path.split("/")) ?? [];
  const homeParts = known(home);
  const workspaceParts = known(workspace);
  const { policyFiles = [], rules = [] } = facts;
  const policyParts = [
    [...homeParts, ".config", "nacre"],
    [...workspaceParts, ".nacre"],
    ...policyFiles.map(known),
    ...rules.flatMap(({ file }) => (file === undefined ? [] : [known(file)])),
  ];
  return {
    home: asPath(homeParts),
    workspace: asPath(workspaceParts),
    isRoot,
    homeParts,
    workspaceParts,
    policyParts,
  };
}

/** The path that a word names in a directory. */
export function locate(text: string, cwd: string, where: Where): ResolvedPath {
  const parts = resolve(text, cwd);
  if (parts === null) return { path: text, class: "unknown", contents: false, spread: false };
  const last = parts.at(-1) ?? "";
  if (last === DEEP || BROAD.test(last)) {
    const base = parts.slice(0, -1);
    return { path: asPath(parts), class: classOf(base, where), contents: true, spread: last === DEEP };
  }
  if (last === MANY) {
    const some = [...parts.slice(0, -1), SOMETHING];
    return { path: asPath(parts), class: classOf(some, where), contents: false, spread: true };
  }
  if (last === UNKNOWN) {
    // If the variable is empty, the path is the directory itself: `rm -rf "/tmp/$X"`.
    const base = parts.slice(0, -1);
    const path = asPath(parts);
    if (base.length === 0) return { path, class: "unknown", contents: false, spread: false };
    return { path, class: classOf(base, where), contents: true, spread: false };
  }
  return { path: asPath(parts), class: classOf(parts, where), contents: false, spread: false };
}

/** Whether the path holds keys or credentials of a user or of the machine. */
export function holdsCredentials({ class: kind, path }: ResolvedPath): boolean {
  return kind === "secret" || isMachineCredential(path);
}

/** The absolute path of a directory, or UNKNOWN. */
export function changeDirectory(text: string, cwd: string): string {
  const parts = resolve(text, cwd);
  return parts === null ? UNKNOWN : asPath(parts);
}

/** A last part that matches everything: `*`, `.*`, `?*`, `[a-z]*`. */
const BROAD = new RegExp(`^\\.?[${STAR}${QUESTION}${BRACKET}]+$`);

/** The parts of the absolute path, or null if it is unknown. */
function resolve(text: string, cwd: string): readonly string[] | null {
  if (text.startsWith(UNKNOWN)) return null;
  if (text.startsWith("/")) {
    const own = OWN_DIRECTORY.exec(text);
    return own ? resolve(`.${text.slice(own[0].length)}`, cwd) : normalise(text.split("/"));
  }
  if (cwd.startsWith(UNKNOWN)) return null;
  return normalise([...cwd.split("/"), ...text.split("/")]);
}

/** The link in /proc to the current directory of a process. */
const OWN_DIRECTORY = new RegExp(`^/+proc/+(self|thread-self|${SOMETHING})/+cwd(?=/|$)`);

function normalise(raw: readonly string[]): readonly string[] | null {
  const parts: string[] = [];
  for (const part of raw) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      // The parent of an unknown part is unknown.
      if (parts.pop() === UNKNOWN) return null;
    } else parts.push(part);
  }
  if (parts[0] === UNKNOWN && parts.length > 1) return null;
  return unwrapped(parts);
}

/** Names of the current process below /proc. SOMETHING stands for `$$`, whose value is unknown. */
const OWN_PROCESS: ReadonlySet<string> = new Set(["self", "thread-self", SOMETHING]);

/**
 * Replaces other names of the same path: `/proc/self/root/etc` is `/etc`, `/proc/self/fd/3` is `/dev/fd/3`,
 * `/private/tmp` of macOS is `/tmp`.
 */
function unwrapped(parts: readonly string[]): readonly string[] {
  if (parts[0] === "proc" && parts[2] === "root" && parts[1] !== "sys") return unwrapped(parts.slice(3));
  if (parts[0] === "proc" && parts[2] === "fd" && OWN_PROCESS.has(parts[1] ?? ""))
    return ["dev", ...parts.slice(2)];
  if (parts[0] === "private" && /^(tmp|etc|var)$/.test(parts[1] ?? "")) return parts.slice(1);
  return parts;
}

export function asPath(parts: readonly string[]): string {
  return `/${parts.join("/")}`;
}

/** The parts of a path, including `..`. */
export function partsOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}
