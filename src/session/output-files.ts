// Files with the output of earlier commands of one bash. A session can last for weeks, so this file deletes the oldest
// ones. It also copies the output of one command into a separate file.
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isSameProcess, readStat } from "../engine/process-table.ts";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import type { OutputPart } from "../shell/output-part.ts";
import { attempt } from "../support/attempt.ts";
import { monotonicMs } from "../support/clock.ts";
import {
  FINISHED_MAX_AGE_SECONDS,
  SESSION_COPY_CHUNK_BYTES,
  SESSION_RETIRED_MAX_COUNT,
} from "../support/limits.ts";
import type { Logger } from "./logger.ts";

/** An output file. Its logger still writes to it while any process has that logger's pipe open. */
interface RetiredFile {
  readonly path: string;
  readonly pid?: number;
  readonly startTime?: string;
  readonly atMs: number;
}

export class OutputFiles {
  readonly #dir: string;
  #lastNumber: number;
  #retired: RetiredFile[] = [];
  /** Paths that appear in a result. */
  readonly #named = new Set<string>();

  /** `lastNumber`: the highest file number that other bashes may have used in this directory. */
  constructor(dir: string, lastNumber: number) {
    this.#dir = dir;
    this.#lastNumber = lastNumber;
  }

  nextNumber(): number {
    return ++this.#lastNumber;
  }

  /** Call this if a result contains this path. nacre then deletes the file no earlier than files of an ended shell. */
  name(path: string): void {
    this.#named.add(path);
  }

  /** Call this when no further command prints to this logger. */
  retire(logger: Logger): void {
    logger.close();
    const startTime = readStat(logger.pid)?.startTime ?? "";
    this.#add({ path: logger.file, pid: logger.pid, startTime });
  }

  /** Copies this part into its own file. If there is no space for a copy, returns the part itself. */
  copy(part: OutputPart): OutputPart {
    const path = join(this.#dir, SESSION_NAMES.copy(part.path, this.nextNumber()));
    try {
      copyPart(part, path);
    } catch {
      attempt(() => unlinkSync(path));
      return part;
    }
    this.#add({ path });
    return { path, from: 0, to: part.to - part.from };
  }

  /**
   * Adds a file, then deletes the oldest files. Keeps files that a process still prints to, and recent files whose path
   * was in a result.
   */
  #add(file: Omit<RetiredFile, "atMs">): void {
    this.#retired.push({ ...file, atMs: monotonicMs() });
    const oldMs = monotonicMs() - FINISHED_MAX_AGE_SECONDS * 1000;
    let spare = this.#retired.length - SESSION_RETIRED_MAX_COUNT;
    this.#retired = this.#retired.filter(({ path, pid, startTime, atMs }) => {
      const isHeld = pid !== undefined && isSameProcess(pid, startTime ?? "");
      if (spare <= 0 || isHeld || (this.#named.has(path) && atMs > oldMs)) return true;
      spare--;
      this.#named.delete(path);
      attempt(() => unlinkSync(path));
      return false;
    });
  }
}

/** Copies in chunks, because the part may not fit into memory. */
function copyPart({ path, from, to }: OutputPart, target: string): void {
  const source = openSync(path, "r");
  try {
    const copy = openSync(target, "w", 0o600);
    try {
      const buffer = Buffer.allocUnsafe(Math.min(to - from, SESSION_COPY_CHUNK_BYTES));
      for (let at = from; at < to; ) {
        const count = readSync(source, buffer, 0, Math.min(buffer.length, to - at), at);
        if (count === 0) break;
        writeSync(copy, buffer, 0, count);
        at += count;
      }
    } finally {
      closeSync(copy);
    }
  } finally {
    closeSync(source);
  }
}
