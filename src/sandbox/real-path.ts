// Paths as the kernel sees them, also of what does not exist yet.
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { NacreError } from "../support/errors.ts";

/** Every link resolved; behind the first part that does not exist the rest is taken as it stands. */
export function realPath(path: string, links = 0): string {
  const target = resolve(path);
  try {
    return realpathSync.native(target);
  } catch {
    if (target === "/") return target;
    if (links > LINKS_MAX_COUNT) throw new NacreError("invalid_input", `Too many links: ${path}`);
    // A link to nothing: what is made through it would be made there.
    const link = linkAt(target);
    if (link !== undefined) return realPath(resolve(dirname(target), link), links + 1);
    const parent = realPath(dirname(target), links + 1);
    return join(parent, target.slice(target.lastIndexOf("/") + 1));
  }
}

// As the kernel's.
const LINKS_MAX_COUNT = 40;

/** Whether a path is a directory, something else, or not there. Links are not followed. */
export function kindOf(path: string): "directory" | "file" | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  return stat.isDirectory() ? "directory" : "file";
}

/** Whether it is the directory or in it. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || directory === "/" || path.startsWith(`${directory}/`);
}

/** The first part of a path that does not exist, by this: whoever holds that place holds the path. */
export function firstMissing(path: string, exists: (path: string) => boolean): string | undefined {
  let missing: string | undefined;
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    if (!exists(at)) missing = at;
    else if (kindOf(at) === "directory") break;
  }
  return missing;
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
