// Things that are put where nothing is, so that a mask has something to be mounted on: a path that does not exist
// could otherwise be made by the command that must not have it. They are on the real disk for as long as a shell
// needs them, and gone after the last one.
//
// Who needs one is a file of its own, named after the shim of the shell: it is true across hosts, and whoever
// comes after a crash can tell.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { systemCode } from "../support/system-error.ts";
import { kindOf } from "./real-path.ts";

export interface Placeholder {
  readonly path: string;
  readonly kind: "directory" | "file";
  readonly content?: string;
}

/** The process that outlives the sandbox: its shim. */
export interface Holder {
  readonly pid: number;
  readonly startTime: string;
}

export class Placeholders {
  readonly #dir: string;
  readonly #isAlive: (holder: Holder) => boolean;

  /** In a directory of ours that no sandbox sees. */
  constructor(dir: string, isAlive: (holder: Holder) => boolean) {
    this.#dir = dir;
    this.#isAlive = isAlive;
  }

  /** Puts them there, until the holder is gone or release is called for it. */
  hold(placeholders: readonly Placeholder[], holder: Holder): void {
    for (const placeholder of placeholders) {
      const key = keyOf(placeholder.path);
      // First the note, then the thing: whatever happens in between, somebody knows about it.
      makeDirs(this.#dir);
      writeFileSync(join(this.#dir, noteOf(key, holder)), JSON.stringify(placeholder), { mode: 0o600 });
      create(placeholder);
    }
  }

  /** Tells of a path whether what is there is one of these: for whoever needs it, too, there is nothing there. */
  held(): (path: string) => boolean {
    const keys = new Set(namesIn(this.#dir).map((note) => note.slice(0, note.indexOf("."))));
    return (path) => keys.size > 0 && keys.has(keyOf(path));
  }

  release(holder: Holder): void {
    this.#sweep((other) => other.pid !== holder.pid || other.startTime !== holder.startTime);
  }

  /** Removes those of shells that have ended without anybody there to do it. */
  tidy(): void {
    this.#sweep(() => true);
  }

  #sweep(mayStay: (holder: Holder) => boolean): void {
    const stays = new Set<string>();
    const over: { readonly note: string; readonly key: string }[] = [];
    for (const note of namesIn(this.#dir)) {
      const [, key = "", pid, startTime = ""] = /^([0-9a-f]+)\.(\d+)-(\d+)$/.exec(note) ?? [];
      if (key === "") continue;
      const holder = { pid: Number(pid), startTime };
      if (mayStay(holder) && this.#isAlive(holder)) stays.add(key);
      else over.push({ note, key });
    }
    const ended = over.flatMap(({ note, key }) => {
      const path = join(this.#dir, note);
      const placeholder = attempt(() => JSON.parse(readFileSync(path, "utf8")) as Placeholder);
      return placeholder ? [{ path, key, placeholder }] : [];
    });
    // Innermost first: a directory goes when it is empty.
    ended.sort((a, b) => b.placeholder.path.length - a.placeholder.path.length);
    for (const { path, key, placeholder } of ended) {
      if (!stays.has(key)) remove(placeholder);
      quietly(() => unlinkSync(path));
    }
  }
}

function create({ path, kind, content = "" }: Placeholder): void {
  try {
    if (kind === "directory") mkdirSync(path, { mode: 0o700 });
    else writeFileSync(path, content, { flag: "wx", mode: 0o644 });
  } catch (cause) {
    if (systemCode(cause) === "EEXIST") return;
    throw new NacreError(
      "spawn_failed",
      `The sandbox cannot keep ${path} from being made: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** Only if it is as it was made: what somebody has put there since is theirs. */
function remove({ path, kind, content = "" }: Placeholder): void {
  if (kindOf(path) !== kind) return;
  quietly(() => {
    if (kind === "directory") rmdirSync(path);
    else if (readFileSync(path, "utf8") === content) unlinkSync(path);
  });
}

function keyOf(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 32);
}

function noteOf(key: string, { pid, startTime }: Holder): string {
  return `${key}.${pid}-${startTime}`;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // It is gone, or not ours any more.
  }
}
