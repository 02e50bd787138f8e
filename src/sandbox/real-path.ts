// Paths as the kernel sees them, also of what does not exist yet.
import { lstatSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { fsPath, linkTarget, resolvedPath, shownPath } from "../support/path-text.ts";

/** Every link resolved; behind the first part that does not exist the rest is taken as it stands. */
export function realPath(path: string): string {
  return resolveFully(path, new Map(), 0);
}

/** The same for many paths in one turn: what has been looked at is not looked at again. */
export function realPaths(): (path: string) => string {
  const known = new Map<string, string>();
  return (path) => resolveFully(path, known, 0);
}

function resolveFully(path: string, known: Map<string, string>, links: number): string {
  const target = resolve(path);
  const answer = known.get(target) ?? lookUp(target, known, links);
  known.set(target, answer);
  return answer;
}

/** Without exceptions for what is not there: most of what is asked for is not, and they cost more than all the rest. */
function lookUp(target: string, known: Map<string, string>, links: number): string {
  if (target === "/") return target;
  const link = linkAt(target);
  if (link === undefined) return join(resolveFully(dirname(target), known, links), basename(target));
  const found = existing(target);
  if (found !== undefined) return found;
  if (links > LINKS_MAX_COUNT) throw new NacreError("invalid_input", `Too many links: ${shownPath(target)}`);
  // A link to nothing: what is made through it would be made there.
  const from = resolveFully(dirname(target), known, links);
  return resolveFully(resolve(from, link), known, links + 1);
}

// As the kernel's.
const LINKS_MAX_COUNT = 40;

/** Whether a path is a directory, something else, or not there for us. Links are not followed. */
export function kindOf(path: string): "directory" | "file" | undefined {
  const stat = statAt(path);
  if (!stat) return undefined;
  return stat.isDirectory() ? "directory" : "file";
}

/** Whether it is the directory or in it. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || directory === "/" || path.startsWith(`${directory}/`);
}

/** The path and those above it that do not exist, outermost first; undefined where a file is in the way. */
export function missingParts(
  path: string,
  kindAt: (path: string) => ReturnType<typeof kindOf>,
): string[] | undefined {
  const missing: string[] = [];
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const kind = kindAt(at);
    if (kind === "file" && at !== path) return undefined;
    if (kind !== undefined) break;
    missing.unshift(at);
  }
  return missing;
}

function linkAt(path: string): string | undefined {
  return statAt(path)?.isSymbolicLink() ? attempt(() => linkTarget(path)) : undefined;
}

/** Where we may not look, a command can neither read nor make anything. */
function statAt(path: string): Stats | undefined {
  return attempt(() => lstatSync(fsPath(path), { throwIfNoEntry: false }));
}

function existing(path: string): string | undefined {
  return attempt(() => resolvedPath(path));
}
