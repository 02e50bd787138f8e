// Answers the policy where symbolic links lead, and remembers its answers: a command may have to wait for its turn, and a
// link that another command made meanwhile changes what the text means.

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

  /** Whether every answer would be the same now. */
  isCurrent(): boolean {
    for (const [path, target] of this.#targets) if (readTarget(path) !== target) return false;
    for (const [directory, names] of this.#names) {
      if (readNames(directory).join("/") !== names.join("/")) return false;
    }
    return true;
  }
}

/** By lstat first: readlink throws for everything that is no link, and that costs ten times as much. */
function readTarget(path: string): string | null | undefined {
  try {
    const found = lstatSync(fsPath(path), { throwIfNoEntry: false });
    if (!found) return undefined;
    return found.isSymbolicLink() ? linkTarget(path) : null;
  } catch {
    // No permission, a loop, a link that was removed in between: no command gets farther.
    return undefined;
  }
}

function readNames(path: string): readonly string[] {
  const names: string[] = [];
  try {
    // Names as bytes: the types of Node know that of other functions only.
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
    // Not there, no directory, or no permission: a pattern matches nothing in it.
  }
  return names.sort();
}
