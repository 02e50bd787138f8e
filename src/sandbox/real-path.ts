// Resolves paths as the kernel does, including paths that do not exist yet.
import { lstatSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { LINKS_MAX_COUNT } from "../support/limits.ts";
import { fsPath, linkTarget, resolvedPath, shownPath } from "../support/path-text.ts";

/** Resolves every link. Leaves the path unchanged from the first missing component on. */
export function realPath(path: string): string {
  return resolveFully(path, new Map(), 0);
}

/** Returns a function that resolves paths like realPath, with a cache. */
export function realPaths(): (path: string) => string {
  const known = new Map<string, string>();
  return (path) => resolveFully(path, known, 0);
}

function resolveFully(path: string, known: Map<string, string>, links: number): string {
  const target = resolve(path);
  const answer = known.get(target) ?? resolveUncached(target, known, links);
  known.set(target, answer);
  return answer;
}

/** Throws no exception for a missing path: most paths are missing, and exceptions would take most of the time. */
function resolveUncached(target: string, known: Map<string, string>, links: number): string {
  if (target === "/") return target;
  const link = linkAt(target);
  if (link === undefined) return join(resolveFully(dirname(target), known, links), basename(target));
  const found = attempt(() => resolvedPath(target));
  if (found !== undefined) return found;
  if (links > LINKS_MAX_COUNT) throw new NacreError("invalid_input", `Too many links: ${shownPath(target)}`);
  // This link dangles. A file created through it would appear at the target, so resolve the target.
  const from = resolveFully(dirname(target), known, links);
  return resolveFully(resolve(from, link), known, links + 1);
}

export type PathKind = "directory" | "file";

/** The kind of a path; undefined if the path does not exist or is inaccessible. A link is a file. */
export function kindOf(path: string): PathKind | undefined {
  const stat = statAt(path);
  if (!stat) return undefined;
  return stat.isDirectory() ? "directory" : "file";
}

function linkAt(path: string): string | undefined {
  return statAt(path)?.isSymbolicLink() ? attempt(() => linkTarget(path)) : undefined;
}

/** Treats inaccessible paths as missing, because a command cannot access them either. */
function statAt(path: string): Stats | undefined {
  return attempt(() => lstatSync(fsPath(path), { throwIfNoEntry: false }));
}
