// The saved states of one bash of a session. bash writes its state as a script after every command (harness-state.ts),
// into two files in turn. This file reads them, finds the newest whole one for the next bash, and knows which saves failed.
import { closeSync, constants, fstatSync, openSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { diskProblem } from "../engine/slot-pool.ts";
import { attempt } from "../support/attempt.ts";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { STATE_SAVE_MAX_MS } from "../support/limits.ts";
import { stateFile } from "./harness-state.ts";
import { markOf } from "./state-pieces.ts";

/** A state that is whole, and the command after which bash saved it. */
export interface WholeState {
  readonly state: string;
  readonly number: number;
}

/** What the next bash takes over. */
export interface SavedState {
  readonly state: string | undefined;
  /** Precedes its first command: options and traps. */
  readonly prefix: string;
  /** The last commands whose state could not be saved, if any, and why. */
  readonly missing?: MissingCommands;
}

export interface MissingCommands {
  readonly commands: number;
  readonly why: string;
}

export const NO_STATE: SavedState = { state: undefined, prefix: "" };

/** Turns options and traps on again that are off between commands. */
export function prefixOf(flags: string, traps: string): string {
  const on = flags.replace(/[^aeuvx]/g, "");
  return `${on === "" ? "" : `\\builtin set -${on};`}${traps}`;
}

export class SavedStates {
  readonly #dir: string;
  readonly #nonce: string;
  #number = -1;
  /** The state that the bash started with; after a failed save, the last one before that. */
  #kept: WholeState | undefined;
  #problem: string | undefined;
  #isReported = false;
  readonly #waiting = new Set<() => void>();

  constructor(dir: string, nonce: string, given: WholeState | undefined) {
    this.#dir = dir;
    this.#nonce = nonce;
    this.#kept = given;
  }

  /** bash reports that it has written the state after this command, or why it could not. */
  take(number: number, problem: string | undefined): void {
    this.#number = number;
    if (problem === undefined || this.read(number) !== undefined) {
      this.#problem = undefined;
      this.#isReported = false;
    } else {
      // The next save overwrites the file with the last whole state, and may fail, too.
      if (this.#problem === undefined) {
        const state = this.read(number - 1);
        if (state !== undefined) this.#kept = { state, number: number - 1 };
      }
      this.#problem = problem;
    }
    this.wake();
  }

  /** bash has ended and saves nothing more. */
  wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** The state after this command, if it is whole. */
  read(number: number): string | undefined {
    return readStateOf(this.#dir, number, this.#nonce);
  }

  /** The newest whole state after this command or an earlier one. */
  newest(number: number): WholeState | undefined {
    const state = readState(this.#dir, number, this.#nonce);
    if (state === undefined) return this.#kept;
    const isOfLast = state.endsWith(markOf(this.#nonce, `end ${number}`));
    return { state, number: isOfLast ? number : number - 1 };
  }

  /** Why the last save failed, if it did. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The same, once each time that saves begin to fail. */
  takeProblem(): string | undefined {
    if (this.#isReported) return undefined;
    this.#isReported = this.#problem !== undefined;
    return this.#problem;
  }

  /** Resolves with true when bash has reported for this command, with false when it ends or takes too long. */
  async reported(number: number, isAlive: () => boolean): Promise<boolean> {
    const deadline = monotonicMs() + STATE_SAVE_MAX_MS;
    while (this.#number < number) {
      const leftMs = deadline - monotonicMs();
      if (!isAlive() || leftMs <= 0) return false;
      await this.#next(leftMs);
    }
    return true;
  }

  async #next(maxMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
      timer = setTimeout(resolve, maxMs);
    });
    clearTimeout(timer);
  }
}

/** The newest whole state: after this command, else after the one before. */
export function readState(dir: string, number: number, nonce: string): string | undefined {
  return readStateOf(dir, number, nonce) ?? readStateOf(dir, number - 1, nonce);
}

/** The state after this command, if it is whole. */
export function readStateOf(dir: string, number: number, nonce: string): string | undefined {
  const text = readIfThere(stateFile(dir, number));
  const end = markOf(nonce, `end ${number}`);
  const at = text.indexOf(`\n${end}`);
  return at < 0 ? undefined : text.slice(0, at + 1 + end.length);
}

/** NAME=VALUE pairs that end with NUL. */
export function readEnvironmentList(path: string): Record<string, string> {
  // Without a prototype: __proto__ is a valid variable name.
  const variables: Record<string, string> = Object.create(null);
  for (const pair of readIfThere(path, "utf8").split("\0")) {
    const at = pair.indexOf("=");
    if (at > 0) variables[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return variables;
}

/** A sandboxed bash can put anything there. Do not follow a link, and do not wait for a fifo. */
function readIfThere(path: string, encoding: BufferEncoding = "latin1"): string {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return fstatSync(fd).isFile() ? readFileSync(fd, encoding) : "";
  } catch {
    return "";
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Writes a script for a bash, completely or not at all. `dir`: of the shell that reads it, or of its session's bash. */
export function writeScript(path: string, script: string, dir: string): void {
  try {
    writeFileSync(path, script, { flag: "wx", mode: 0o600, encoding: "latin1" });
  } catch (cause) {
    attempt(() => unlinkSync(path));
    throw new NacreError("spawn_failed", diskProblem(dirname(dirname(dir)), cause), { cause });
  }
}
