// The symbolic links on the way along a path. What a path leads to can be bound read-only, a link cannot: who may write
// the directory that holds it leads the path elsewhere.
import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "../support/attempt.ts";
import { LINKS_MAX_COUNT } from "../support/limits.ts";
import { fsPath, linkTarget } from "../support/path-text.ts";

/** The real directories that hold those links, in the order in which the kernel follows them. */
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
