// Resolves a path as the kernel does, including the path of a file that does not exist yet.
import { lstatSync, readdirSync, type Stats } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { attempt } from "../../support/attempt.ts";
import {
  DANGLING_LINKS_MAX_COUNT,
  NEAREST_NAMES_MAX_COUNT,
  NEAREST_SEARCH_NAMES_MAX_COUNT,
} from "../../support/limits.ts";
import { nearest } from "../../support/nearest.ts";
import { fsPath, linkTarget, resolvedPath, textOfBytes } from "../../support/path-text.ts";
import { systemCode } from "../../support/system-error.ts";
import type { EntryKind, Located } from "./disk.ts";

/** `path` is absolute and may contain links and `..`. */
export function locatePath(path: string): Located {
  return locateFrom(path, 0);
}

function locateFrom(path: string, links: number): Located {
  try {
    const real = resolvedPath(path);
    return { real, kind: kindOfEntry(lstatSync(fsPath(real))), missingDirs: 0, nearest: [] };
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    return locateMissing(path, links, error);
  }
}

function locateMissing(path: string, links: number, error: unknown): Located {
  const name = /[^/]*$/.exec(path)?.[0] ?? "";
  // Fail as the kernel does: `missing/..` and `missing/` name directories that do not exist.
  if (name === "" || name === "." || name === "..") throw error;
  const parent = locateFrom(dirname(path), links);
  if (parent.kind === undefined) {
    const real = resolve(parent.real, name);
    return { real, kind: undefined, missingDirs: parent.missingDirs + 1, nearest: parent.nearest };
  }
  if (parent.kind !== "directory") throw Object.assign(new Error("not a directory"), { code: "ENOTDIR" });
  const real = resolve(parent.real, name);
  const target = attempt(() => linkTarget(real));
  if (target !== undefined) {
    if (links >= DANGLING_LINKS_MAX_COUNT)
      throw Object.assign(new Error("too many links"), { code: "ELOOP" });
    return locateFrom(target.startsWith("/") ? target : `${parent.real}/${target}`, links + 1);
  }
  return { real, kind: undefined, missingDirs: 0, nearest: nearestNames(parent.real, basename(real)) };
}

export function kindOfEntry(stat: Pick<Stats, `is${string}` & keyof Stats>): EntryKind {
  if (stat.isFile()) return "file";
  if (stat.isDirectory()) return "directory";
  if (stat.isFIFO()) return "fifo";
  if (stat.isSocket()) return "socket";
  return stat.isBlockDevice() ? "block device" : "character device";
}

function nearestNames(directory: string, name: string): string[] {
  const bytes = attempt(() => readdirSync(fsPath(directory), "buffer")) ?? [];
  let names = bytes.slice(0, NEAREST_SEARCH_NAMES_MAX_COUNT).map(textOfBytes);
  const found: string[] = [];
  while (found.length < NEAREST_NAMES_MAX_COUNT) {
    const next = nearest(name, names);
    if (next === undefined) break;
    found.push(next);
    names = names.filter((other) => other !== next);
  }
  return found;
}
