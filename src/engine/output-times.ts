// When the output of a shell arrived. Output files contain no times. So a process outside the command samples their
// size and last change. If a sample finds that a file has grown, the process appends a mark, which is one line, to the
// shell's file `times`.
//
//   FILE SIZE TIME SINCE    for example: out 4096 1795000000123 1794999999623
//
// The first SIZE bytes of FILE were written at TIME or before. The bytes after the previous mark were not written before
// SINCE (0: unknown). TIME and SINCE are milliseconds since the epoch. The host takes the samples (OutputMarks);
// after its death, the keeper does (output-times.sh). Samples do not slow down a command or its loggers.
import { appendFileSync, readFileSync, type Stats, statSync } from "node:fs";
import { basename } from "node:path";
import { attempt } from "../support/attempt.ts";
import { wallMs } from "../support/clock.ts";
import { OUTPUT_TIME_COARSE_MS, OUTPUT_TIMES_PER_AGE_COUNT } from "../support/limits.ts";
import type { StartedShell } from "./started-shell.ts";

interface StreamMarks {
  size: number;
  markedAt: number;
  /** The time of the last sample that found no new output. */
  since: number;
}

/** Writes marks for the shells of this host process. */
export class OutputMarks {
  readonly #streams = new WeakMap<StartedShell, Map<string, StreamMarks>>();

  /** Call this repeatedly while the shell runs. */
  sample(started: StartedShell): void {
    const { attached, meta, files } = started;
    // Skip the shells of a dead host, which the keeper marks, and sessions, whose output belongs to many commands.
    if (attached || meta.role) return;
    const streams = this.#streams.get(started) ?? new Map<string, StreamMarks>();
    this.#streams.set(started, streams);
    const marks = [files.stdout, files.stderr].map((path) => markOf(path, streams, meta.createdAt));
    const text = marks.join("");
    // Ignore a failure: if the disk is full or the directory is gone, no mark is written, and readers get less exact
    // times.
    if (text !== "") attempt(() => appendFileSync(files.times, text, { mode: 0o600 }));
  }
}

/** The line of a new mark, or nothing. */
function markOf(path: string, streams: Map<string, StreamMarks>, createdAt: number): string {
  const now = wallMs();
  const known = streams.get(path) ?? { size: 0, markedAt: 0, since: Math.round(createdAt) };
  streams.set(path, known);
  const stat = statOf(path);
  if (!stat) return "";
  if (stat.size === known.size) {
    known.since = now;
    return "";
  }
  // Write fewer marks for an older shell: otherwise the file would grow without limit.
  if (now - known.markedAt < Math.floor((now - createdAt) / OUTPUT_TIMES_PER_AGE_COUNT)) return "";
  const line = `${basename(path)} ${stat.size} ${Math.min(now, Math.ceil(stat.mtimeMs))} ${known.since}\n`;
  Object.assign(known, { size: stat.size, markedAt: now, since: now });
  return line;
}

interface OutputMark {
  readonly size: number;
  readonly time: number;
  readonly since: number;
}

/** The time of some output. */
export interface OutputTime {
  /** The output was written at this time or before. */
  readonly ms: number;
  /** Whether it was written at most OUTPUT_TIME_COARSE_MS before. */
  readonly isExact: boolean;
}

/** The known times of one output file, read once. */
export class OutputTimes {
  readonly #createdAt: number;
  /** In order of size and time. */
  readonly marks: readonly OutputMark[];

  constructor(path: string, timesFile: string, createdAt: number) {
    this.#createdAt = createdAt;
    const marks: OutputMark[] = [];
    const text = attempt(() => readFileSync(timesFile, "latin1")) ?? "";
    for (const [, file, size, time, since] of text.matchAll(/^(\S+) (\d+) (\d+) (\d+)\n/gm)) {
      if (file === basename(path))
        push(marks, { size: Number(size), time: Number(time), since: Number(since) });
    }
    const stat = statOf(path);
    // The last write has no mark yet. Its time is the modification time of the file.
    if (stat && stat.size > (marks.at(-1)?.size ?? 0))
      push(marks, { size: stat.size, time: Math.ceil(stat.mtimeMs), since: 0 });
    this.marks = marks;
  }

  /** The time of the byte at this offset; undefined if the byte is newer than every mark. */
  at(offset: number): OutputTime | undefined {
    const index = firstIndex(this.marks, ({ size }) => size > offset);
    const mark = this.marks[index];
    if (!mark) return undefined;
    const earliest = Math.max(mark.since, this.marks[index - 1]?.time ?? this.#createdAt);
    return { ms: mark.time, isExact: mark.time - earliest <= OUTPUT_TIME_COARSE_MS };
  }

  /** The offset up to which all output was written before this time. */
  offsetSince(ms: number): number {
    return this.marks[firstIndex(this.marks, ({ time }) => time >= ms) - 1]?.size ?? 0;
  }
}

/** Drops marks that a truncation of the file, or a change of the clock, has made wrong. */
function push(marks: OutputMark[], mark: OutputMark): void {
  while ((marks.at(-1)?.size ?? -1) >= mark.size) marks.pop();
  const before = marks.at(-1)?.time ?? 0;
  marks.push({ ...mark, time: Math.max(mark.time, before) });
}

function firstIndex(marks: readonly OutputMark[], fits: (mark: OutputMark) => boolean): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const mark = marks[middle];
    if (mark && fits(mark)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function statOf(path: string): Stats | undefined {
  return attempt(() => statSync(path));
}
