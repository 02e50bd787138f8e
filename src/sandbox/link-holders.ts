// Finds the directories of the symbolic links in a path. A mount can protect the target of a path, but not a link: a command
// that can write the link's directory can replace the link.
import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "../support/attempt.ts";
import { LINKS_MAX_COUNT } from "../support/limits.ts";
import { fsPath, linkTarget } from "../support/path-text.ts";

/** The real directories that contain links of this path, in the order in which the kernel follows them. */
export function linkHolders(path: string): string[] {
  const holders: string[] = [];
  let real = "/";
  let rest = partsOf(resolve(path));
  for (let links = 0; links < LINKS_MAX_COUNT; ) {
    const [part, ...after] = rest;
    if (part === undefined) break;
    rest = after;
    const at = part === ".." ? dirname(real) : join(real, part);
    const target = attempt(() => (lstatSync(fsPath(at)).isSymbolicLink() ? linkTarget(at) : undefined));
    if (target === undefined) {
      real = at;
      continue;
    }
    links++;
    holders.push(real);
    if (target.startsWith("/")) real = "/";
    rest = [...partsOf(target), ...rest];
  }
  return [...new Set(holders)];
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}
