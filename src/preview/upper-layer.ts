// Reads the upper layer of an overlay after the command has ended.
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { fsPath, namesIn } from "../support/path-text.ts";
import { type UpperEntry, upperEntryAt } from "./entry.ts";

const OWNER_MAY_LIST = 0o500;

export class UpperLayer {
  readonly path: string;
  /** The original modes of directories that the command made unreadable and that this class has made readable again. */
  readonly #modes = new Map<string, number>();

  constructor(path: string) {
    this.path = path;
  }

  at(path: string): string {
    return join(this.path, path);
  }

  entry(path: string): UpperEntry | undefined {
    const entry = upperEntryAt(this.at(path));
    const mode = this.#modes.get(path);
    return mode === undefined || !entry || entry === "whiteout" ? entry : { ...entry, mode };
  }

  /** The names in a directory. If the command took the owner's permissions away, makes the directory readable first. */
  names(path: string): string[] {
    const entry = this.entry(path);
    if (entry && entry !== "whiteout" && (entry.mode & OWNER_MAY_LIST) !== OWNER_MAY_LIST) {
      this.#modes.set(path, entry.mode);
      chmodSync(fsPath(this.at(path)), entry.mode | 0o700);
    }
    return namesIn(this.at(path));
  }
}
