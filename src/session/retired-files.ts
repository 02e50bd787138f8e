// Files of earlier output that a session's bash keeps, and when each may go: a session can last for weeks.
import { unlinkSync } from "node:fs";
import { isSameProcess } from "../engine/process-table.ts";
import { attempt } from "../support/attempt.ts";
import { monotonicMs } from "../support/clock.ts";
import { FINISHED_MAX_AGE_SECONDS, SESSION_RETIRED_MAX_COUNT } from "../support/limits.ts";

/** With the logger that writes to it while anything holds its pipe. */
interface RetiredFile {
  readonly path: string;
  readonly pid?: number;
  readonly startTime?: string;
  readonly atMs: number;
}

export class RetiredFiles {
  #files: RetiredFile[] = [];
  /** Those that a result has named. */
  readonly #named = new Set<string>();

  name(path: string): void {
    this.#named.add(path);
  }

  /**
   * The oldest ones go. Not what something that was left running still prints to, and what a result has named only
   * when it is as old as an ended shell may get.
   */
  add(file: Omit<RetiredFile, "atMs">): void {
    this.#files.push({ ...file, atMs: monotonicMs() });
    const oldMs = monotonicMs() - FINISHED_MAX_AGE_SECONDS * 1000;
    let spare = this.#files.length - SESSION_RETIRED_MAX_COUNT;
    this.#files = this.#files.filter((retired) => {
      const { path, pid, startTime, atMs } = retired;
      const isHeld = pid !== undefined && isSameProcess(pid, startTime ?? "");
      if (spare <= 0 || isHeld || (this.#named.has(path) && atMs > oldMs)) return true;
      spare--;
      this.#named.delete(path);
      attempt(() => unlinkSync(path));
      return false;
    });
  }
}
