// Removes the temporary files of writes that a killed host did not finish. Before a write creates its temporary file,
// it creates a symbolic link in the state root that names this file. Through these links, the next host finds the files
// of dead hosts without searching directories. A link needs no disk block, so it works on a full disk.
import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, symlinkSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isSameProcess, thisProcess } from "../engine/process-table.ts";
import { FILES_NAMES, ROOT_NAMES, type StateRoot } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { HeldDirectory } from "../support/held-directory.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { fsPath, linkTarget } from "../support/path-text.ts";

const TEMPORARY = /^\.nacre-write-[0-9a-f]{16}$/;

export class UnfinishedWrites {
  readonly #root: StateRoot;
  readonly #directory: string;

  constructor(root: StateRoot) {
    this.#root = root;
    this.#directory = join(root.path, ROOT_NAMES.files, FILES_NAMES.unfinished);
  }

  /** Records the name of a temporary file in `directory`. Call before creating the file. */
  begin(directory: string): { readonly temporary: string; readonly end: () => void } {
    this.#root.ensure();
    makeDirs(this.#directory);
    const id = randomBytes(8).toString("hex");
    const temporary = `.nacre-write-${id}`;
    const { pid, startTime } = thisProcess();
    const entry = join(this.#directory, `${pid}-${startTime}-${id}`);
    symlinkSync(fsPath(join(directory, temporary)), entry);
    return { temporary, end: () => void attempt(() => unlinkSync(entry)) };
  }

  /** Removes the temporary files of hosts that have died. */
  tidy(): void {
    for (const name of attempt(() => readdirSync(this.#directory)) ?? []) {
      const [, pid, startTime = ""] = /^(\d+)-(\d+)-[0-9a-f]{16}$/.exec(name) ?? [];
      if (pid === undefined || isSameProcess(Number(pid), startTime)) continue;
      const entry = join(this.#directory, name);
      attempt(() => removeTemporary(linkTarget(entry)));
      attempt(() => unlinkSync(entry));
    }
  }
}

/** Removes the path only if it is a regular file with the name of a temporary file. Never follows a link. */
function removeTemporary(path: string): void {
  if (!TEMPORARY.test(basename(path))) return;
  const directory = HeldDirectory.open(dirname(path));
  if (!directory) return;
  try {
    const file = directory.at(basename(path));
    if (lstatSync(file).isFile()) unlinkSync(file);
  } finally {
    directory.close();
  }
}
