// Reads symbolic links for the policy and remembers the answers. While a command waits in a queue, another command
// can create a link that changes what the waiting command would do.

import { lstatSync, opendirSync } from "node:fs";
import type { LinkReader } from "../policy/shell-model/link-reader.ts";
import { LISTED_ENTRIES_MAX_COUNT } from "../support/limits.ts";
import { fsPath, linkTarget, textOfBytes } from "../support/path-text.ts";

export class DiskLinks implements LinkReader {
  readonly #targets = new Map<string, string | null | undefined>();
  readonly #names = new Map<string, readonly string[]>();

  target(path: string): string | null | undefined {
    const known = this.#targets.get(path);
    if (known !== undefined || this.#targets.has(path)) return known;
    const target = readTarget(path);
    this.#targets.set(path, target);
    return target;
  }

  namesIn(directory: string): readonly string[] {
    const known = this.#names.get(directory);
    if (known) return known;
    const names = readNames(directory);
    this.#names.set(directory, names);
    return names;
  }

  /** Repeats all lookups of the other instance. Returns whether the answers are the same. */
  hasSameAnswers(other: DiskLinks): boolean {
    for (const [path, target] of other.#targets) if (this.target(path) !== target) return false;
    for (const [directory, names] of other.#names) {
      if (this.namesIn(directory).join("/") !== names.join("/")) return false;
    }
    return true;
  }

  /** Whether every answer is still valid. */
  isCurrent(): boolean {
    for (const [path, target] of this.#targets) if (readTarget(path) !== target) return false;
    for (const [directory, names] of this.#names) {
      if (readNames(directory).join("/") !== names.join("/")) return false;
    }
    return true;
  }
}

/** Calls lstat first: readlink throws if the path is not a link, and throwing takes ten times as long. */
function readTarget(path: string): string | null | undefined {
  try {
    const found = lstatSync(fsPath(path), { throwIfNoEntry: false });
    if (!found) return undefined;
    return found.isSymbolicLink() ? linkTarget(path) : null;
  } catch {
    // This user has no permission, the links form a loop, or the link was just removed. A command cannot follow such
    // a link either.
    return undefined;
  }
}

function readNames(path: string): readonly string[] {
  const names: string[] = [];
  try {
    // Read the names as bytes. Node's types lack this option for opendir.
    const directory = opendirSync(fsPath(path), { encoding: "buffer" as BufferEncoding });
    try {
      for (let count = 0; count < LISTED_ENTRIES_MAX_COUNT; count++) {
        const entry = directory.readSync();
        if (!entry) break;
        if (entry.isSymbolicLink()) names.push(textOfBytes(Buffer.from(entry.name)));
      }
    } finally {
      directory.closeSync();
    }
  } catch {
    // The directory is missing, is not a directory, or cannot be read: a pattern matches nothing there.
  }
  return names.sort();
}
