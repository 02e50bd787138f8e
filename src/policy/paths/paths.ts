// Resolves an evaluated word against a directory and classifies the path. This file uses only the text of the path;
// links.ts adds the targets of symbolic links.

import { BRACKET, DEEP, MANY, QUESTION, SOMETHING, STAR, UNKNOWN } from "../shell-model/marks.ts";
import type { PolicyFacts } from "../verdict.ts";
import { STATE_ROOT } from "./agent-settings.ts";
import { isMachineCredential } from "./credentials.ts";
import { allowsApproval, classOf, type PathClass } from "./path-class.ts";

/** The directories that paths are compared with, normalized once. */
export interface Where {
  readonly home: string;
  readonly workspace: string;
  readonly isRoot: boolean;
  readonly homeParts: readonly string[];
  readonly workspaceParts: readonly string[];
  readonly policyParts: readonly (readonly string[])[];
  readonly stateParts: readonly (readonly string[])[];
  /** The possible values of environment variables, by name. */
  readonly variables: ReadonlyMap<string, readonly string[]>;
}

export interface ResolvedPath {
  /** The resolved path, marks included. */
  readonly path: string;
  readonly class: PathClass;
  /** Whether the word stands for the content of a directory (`dir/*`), not for the directory itself. */
  readonly contents: boolean;
  /** Whether the word stands for many files at any depth, such as the results of find. */
  readonly spread: boolean;
  /** Whether the path contains nacre's approval requests or the token for its web page. */
  readonly allowsApproval: boolean;
}

export function describeWhere({ home, cwd, workspace = cwd, isRoot = false, ...facts }: PolicyFacts): Where {
  const known = (path: string) => normalise(path.split("/")) ?? [];
  const homeParts = known(home);
  const workspaceParts = known(workspace);
  const { policyFiles = [], rules = [], stateRoots = [], environment = {} } = facts;
  const stateParts = stateRoots.map(known);
  const { XDG_CONFIG_HOME: config } = environment;
  const policyParts = [
    [...homeParts, ".config", "nacre"],
    [...workspaceParts, ".nacre"],
    ...(config === undefined ? [] : [[...known(config), "nacre"]]),
    ...policyFiles.map(known),
    ...stateParts,
    ...rules.flatMap(({ file }) => (file === undefined ? [] : [known(file)])),
  ];
  return {
    home: asPath(homeParts),
    workspace: asPath(workspaceParts),
    isRoot,
    homeParts,
    workspaceParts,
    policyParts,
    stateParts,
    variables: variablesOf(environment, asPath(homeParts)),
  };
}

/**
 * If the value of NACRE_HOME is unknown, the policy assumes the usual state root, because any other state root gets the
 * same protection. For an unknown XDG variable, it considers two values: the default and an unknown directory. The
 * default comes first, because most code that reads the options of a command looks only at the first possible value.
 */
function variablesOf(
  { NACRE_HOME, XDG_STATE_HOME, XDG_CONFIG_HOME }: NonNullable<PolicyFacts["environment"]>,
  home: string,
): Where["variables"] {
  const known = (value: string | undefined, usual: readonly string[]) =>
    value === undefined ? usual : [value];
  return new Map([
    ["NACRE_HOME", known(NACRE_HOME, [`${home}/${STATE_ROOT}`])],
    ["XDG_STATE_HOME", known(XDG_STATE_HOME, [`${home}/.local/state`, UNKNOWN])],
    ["XDG_CONFIG_HOME", known(XDG_CONFIG_HOME, [`${home}/.config`, UNKNOWN])],
  ]);
}

/** Resolves a word against a directory and classifies the path. */
export function locate(text: string, cwd: string, where: Where): ResolvedPath {
  const parts = resolve(text, cwd);
  if (parts === null) return unknownPath(text);
  const path = asPath(parts);
  const last = parts.at(-1) ?? "";
  const base = parts.slice(0, -1);
  if (last === DEEP || BROAD.test(last))
    return { path, ...described(base, where), contents: true, spread: last === DEEP };
  if (last === MANY)
    return { path, ...described([...base, SOMETHING], where), contents: false, spread: true };
  if (last === UNKNOWN) {
    // If the variable is empty, the path is the directory itself: `rm -rf "/tmp/$X"`.
    if (base.length === 0) return unknownPath(path);
    return { path, ...described(base, where), contents: true, spread: false };
  }
  return { path, ...described(parts, where), contents: false, spread: false };
}

function described(parts: readonly string[], where: Where): Pick<ResolvedPath, "class" | "allowsApproval"> {
  const kind = classOf(parts, where);
  return { class: kind, allowsApproval: kind === "policy" && allowsApproval(parts, where) };
}

function unknownPath(path: string): ResolvedPath {
  return { path, class: "unknown", contents: false, spread: false, allowsApproval: false };
}

/** Whether the path contains keys or credentials of a user, of the machine or of nacre. */
export function holdsCredentials({ class: kind, path, allowsApproval: approves }: ResolvedPath): boolean {
  return kind === "secret" || approves || isMachineCredential(path);
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
 * Replaces an alias of a path with its usual name: `/proc/self/root/etc` becomes `/etc`, `/proc/self/fd/3` becomes
 * `/dev/fd/3`, and `/private/tmp` on macOS becomes `/tmp`.
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
