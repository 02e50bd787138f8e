// The times for `nacre output --since` and `--timestamps`, from the marks of the shell (engine/output-times.ts).
import { OutputTimes } from "../../engine/output-times.ts";
import type { OutputParts } from "../../execution/render.ts";
import type { SpoolPart } from "../../execution/spool-text.ts";
import type { StreamName } from "../../shell/follow-output.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { wallMs } from "../../support/clock.ts";
import { lineStart } from "./output-tail.ts";

/** Part of a stream. Its bytes were written at about the same time. */
export interface TimedPiece {
  readonly stream: StreamName;
  readonly from: number;
  readonly to: number;
  readonly time: number;
}

export class LineTimes {
  readonly #times: Readonly<Record<StreamName, OutputTimes>>;
  /** The number of lines that may be older than the time printed before them. */
  uncertainCount = 0;

  constructor({ started, outputFiles, createdAt }: ShellProcess) {
    const timesOf = (path: string) => new OutputTimes(path, started.files.times, createdAt);
    this.#times = { stdout: timesOf(outputFiles.stdout), stderr: timesOf(outputFiles.stderr) };
  }

  /** The offset of the first line whose last byte was written at or after this time. */
  sinceOf(stream: StreamName, part: SpoolPart, ms: number): number {
    const offset = Math.min(part.to, Math.max(part.from, this.#times[stream].offsetSince(ms)));
    return offset === part.to ? offset : lineStart(part, offset);
  }

  /** The text to print before the line at this offset: the time of the line's first byte, in RFC 3339. */
  stampOf(stream: StreamName, offset: number): string {
    // With --follow, output can be newer than the last mark. Such output was just written: use the current time.
    const time = this.#times[stream].at(offset) ?? { ms: wallMs(), isExact: true };
    if (!time.isExact) this.uncertainCount++;
    return `${new Date(time.ms).toISOString()} `;
  }

  /** Whole lines of both streams in the order in which they were written. */
  piecesOf(parts: OutputParts, streams: readonly StreamName[]): readonly TimedPiece[] {
    return streams.flatMap((stream) => this.#piecesOf(stream, parts[stream])).sort((a, b) => a.time - b.time);
  }

  #piecesOf(stream: StreamName, part: SpoolPart): TimedPiece[] {
    const pieces: TimedPiece[] = [];
    let from = part.from;
    for (const { size, time } of this.#times[stream].marks) {
      const to = size >= part.to ? part.to : lineStart({ ...part, from }, size);
      if (to <= from) continue;
      pieces.push({ stream, from, to, time });
      from = to;
    }
    if (from < part.to) pieces.push({ stream, from, to: part.to, time: wallMs() });
    return pieces;
  }
}
