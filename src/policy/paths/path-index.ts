// A list of paths below one directory.

import { hasGlob } from "../shell-model/marks.ts";
import { couldStartWith } from "./path-parts.ts";

type Parts = readonly string[];

/** Indexed by the first part of each path. Most paths match no first part, so they need no further comparison. */
export class PathIndex {
  readonly #all: readonly Parts[];
  readonly #byFirstPart = new Map<string, Parts[]>();

  constructor(paths: readonly string[]) {
    this.#all = paths.map((path) => path.split("/"));
    for (const path of this.#all) {
      const [first = ""] = path;
      this.#byFirstPart.set(first, [...(this.#byFirstPart.get(first) ?? []), path]);
    }
  }

  /** Whether a path may be in the list, or below a path in the list. */
  couldContain(parts: Parts): boolean {
    const [first = ""] = parts;
    const candidates = hasGlob(first) ? this.#all : this.#byFirstPart.get(first);
    return candidates?.some((path) => couldStartWith(parts, path)) ?? false;
  }
}
