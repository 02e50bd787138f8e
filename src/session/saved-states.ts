// The states that one bash has saved. Owns the assignment of states to files, and the savers (state-script.ts). A save
// never overwrites the newest whole state, nor a file to which a saver may still write.
import { isSameProcess, type ProcessIdentity, readStat } from "../engine/process-table.ts";
import { signalProcess } from "../engine/signals.ts";
import { monotonicMs } from "../support/clock.ts";
import {
  SAVER_POLL_MS,
  STATE_SAVE_MAX_MS,
  STATE_SAVE_SLOW_MS,
  UNREAPED_SAVER_MAX_MS,
  UNREAPED_SAVERS_MAX_COUNT,
} from "../support/limits.ts";
import { readStateOf, stateFile } from "./state-files.ts";

/** A completely saved state, and the number of the command after which bash saved it. */
export interface WholeState {
  readonly state: string;
  readonly number: number;
}

interface Save {
  readonly number: number;
  /** The index of its file. */
  readonly file: number;
  readonly isForked: boolean;
  phase: "pending" | "whole" | "failed";
  /** undefined before bash has reported it. */
  saver?: ProcessIdentity;
}

export class SavedStates {
  readonly #dir: string;
  readonly #nonce: string;
  /** The state that bash started with. */
  readonly #inherited: WholeState | undefined;
  /** In the order in which their scripts were sent. */
  #saves: Save[] = [];
  /** Savers that have ended and may be zombies, oldest first. */
  readonly #ended: (ProcessIdentity & { readonly atMs: number })[] = [];
  #tookMs: number | undefined;
  #problem: string | undefined;
  #isReported = false;
  /** Why the newest save is not whole, if bash has not reported a problem. */
  #lost: string | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(dir: string, nonce: string, inherited: WholeState | undefined) {
    this.#dir = dir;
    this.#nonce = nonce;
    this.#inherited = inherited;
  }

  /** The index of the file for the next save. */
  get nextFile(): number {
    this.#refresh();
    let file = 0;
    while (this.#saves.some((save) => save.file === file && this.#isNeeded(save))) file++;
    return file;
  }

  /** Whether a saver should write the next state. `isLarge`: the last command may have made the state large. */
  needsSaver(isLarge: boolean): boolean {
    this.#refresh();
    // After a failed saver, bash itself saves: only bash reports why a save fails.
    if (this.#lost !== undefined) return false;
    const isSaving = this.#saves.some(({ phase, saver }) => phase === "pending" && saver);
    if (!isLarge && !isSaving && (this.#tookMs ?? 0) <= STATE_SAVE_SLOW_MS) return false;
    // Forget savers that were reaped. A saver becomes a child of the first process, which in some containers does not
    // reap its children.
    while (this.#ended[0] && readStat(this.#ended[0].pid)?.startTime !== this.#ended[0].startTime)
      this.#ended.shift();
    const ageMs = monotonicMs() - (this.#ended[0]?.atMs ?? monotonicMs());
    return ageMs <= UNREAPED_SAVER_MAX_MS && this.#ended.length < UNREAPED_SAVERS_MAX_COUNT;
  }

  /** Call this when the script of a save is sent to bash. */
  add(number: number, file: number, isForked = false): void {
    this.#refresh();
    this.#saves = this.#saves.filter((save) => this.#isNeeded(save));
    this.#saves.push({ number, file, isForked, phase: "pending" });
  }

  /**
   * Call this when bash reports that it has written the state after this command, or why it could not write the state.
   */
  take(number: number, problem: string | undefined, tookMs: number | undefined): void {
    const save = this.#saves.find((one) => one.number === number && !one.isForked && one.phase === "pending");
    const isWhole = problem === undefined || this.read(number) !== undefined;
    if (save) save.phase = isWhole ? "whole" : "failed";
    if (isWhole) {
      this.#endSavers(save);
      this.#isReported = false;
    }
    this.#problem = isWhole ? undefined : problem;
    this.#lost = undefined;
    this.#tookMs = tookMs;
    this.wake();
  }

  /** Call this when bash reports that it has forked a saver. `pid` is undefined if that process has ended. */
  forked(number: number, pid: number | undefined): void {
    const save = this.#saves.find((one) => one.number === number && one.isForked && !one.saver);
    if (!save) return;
    this.#endSavers(save);
    const startTime = pid ? readStat(pid)?.startTime : undefined;
    if (pid && startTime) save.saver = { pid, startTime };
    else this.#conclude(save);
    this.wake();
  }

  /** Wakes the callers that wait for a save. Call this when bash has ended and starts no further save. */
  wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** The state after this command, if it is whole. */
  read(number: number): string | undefined {
    const newestFirst = this.#saves.filter((save) => save.number === number).reverse();
    for (const { file } of newestFirst) {
      const state = readStateOf(stateFile(this.#dir, file), number, this.#nonce)?.state;
      if (state !== undefined) return state;
    }
    return undefined;
  }

  /** The newest whole state after this command or an earlier one. */
  newest(number: number): WholeState | undefined {
    for (const save of [...this.#saves].reverse()) {
      const state = save.number > number ? undefined : this.read(save.number);
      if (state !== undefined) return { state, number: save.number };
    }
    return this.#inherited;
  }

  /** Why the last save failed, if it did. */
  get problem(): string | undefined {
    return this.#problem ?? this.#lost;
  }

  /**
   * Why the last save by bash itself failed. Returns each failure once: the next one only after a save has succeeded in
   * between.
   */
  takeProblem(): string | undefined {
    if (this.#isReported) return undefined;
    this.#isReported = this.#problem !== undefined;
    return this.#problem;
  }

  /** Resolves with true when the save after this command has ended, with false if bash ends or takes too long. */
  async settled(number: number, isBashAlive: () => boolean): Promise<boolean> {
    const deadline = monotonicMs() + STATE_SAVE_MAX_MS;
    for (;;) {
      this.#refresh();
      const save = this.#saves.findLast((one) => one.number >= number);
      if (save && save.phase !== "pending") return true;
      const leftMs = deadline - monotonicMs();
      if (leftMs <= 0 || !isBashAlive()) return false;
      await this.#next(save?.saver ? Math.min(SAVER_POLL_MS, leftMs) : leftMs);
    }
  }

  /**
   * Call this when bash has ended. Waits for the saver of the newest save up to this command, because this saver can
   * outlive bash.
   */
  async finish(number: number): Promise<void> {
    const deadline = monotonicMs() + STATE_SAVE_MAX_MS;
    for (;;) {
      this.#refresh();
      const save = this.#saves.findLast((one) => one.number <= number && one.phase !== "failed");
      if (!save || save.phase === "whole") return;
      if (!save.saver) this.#conclude(save, "bash ended first");
      else if (monotonicMs() > deadline)
        this.#conclude(save, `saving took longer than ${STATE_SAVE_MAX_MS} ms`);
      else await this.#next(SAVER_POLL_MS);
    }
  }

  /** Ends the savers of older states. */
  #endSavers(newer: Save | undefined): void {
    for (const save of this.#saves) if (save !== newer && save.saver) signalProcess(save.saver, "SIGKILL");
  }

  /** Whether no other save may overwrite the file of this save. */
  #isNeeded(save: Save): boolean {
    // A pending save may be whole: its saver may have ended since the last #refresh.
    if (save.phase === "pending") return true;
    if (save.saver && isSameProcess(save.saver.pid, save.saver.startTime)) return true;
    return save === this.#saves.findLast(({ phase }) => phase === "whole");
  }

  /** Finds out which savers have ended. */
  #refresh(): void {
    for (const save of this.#saves)
      if (save.phase === "pending" && save.saver && !isSameProcess(save.saver.pid, save.saver.startTime))
        this.#conclude(save);
  }

  /** Call this when no process writes to the file of this save any more. */
  #conclude(save: Save, why = "the process that saved them ended early"): void {
    const isNewest = save === this.#saves.at(-1);
    if (save.saver) {
      signalProcess(save.saver, "SIGKILL");
      this.#ended.push({ ...save.saver, atMs: monotonicMs() });
    }
    const whole = readStateOf(stateFile(this.#dir, save.file), save.number, this.#nonce);
    save.phase = whole ? "whole" : "failed";
    // Ignore the result of an older save: this process ends the saver of an older save when there is a newer one.
    if (!isNewest) return;
    this.#lost = whole ? undefined : why;
    if (!whole) return;
    this.#problem = undefined;
    this.#isReported = false;
    this.#tookMs = tookMs(whole.rest);
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

/** The time between two values of EPOCHREALTIME, whose decimal point depends on the locale; undefined if unset. */
export function elapsedMs(start: string, end: string): number | undefined {
  const [from, to] = [start, end].map((text) => Number.parseInt(text.replace(/\D/, ""), 10) / 1000);
  const ms = (to ?? Number.NaN) - (from ?? Number.NaN);
  return Number.isNaN(ms) ? undefined : ms;
}

function tookMs(rest: string): number | undefined {
  const [start = "", end = ""] = rest.split("\n")[0]?.split(" ") ?? [];
  return elapsedMs(start, end);
}
