// The output of one shell: its files, the position of each reader, and live reading.
import { Cursor, sizeOf } from "../engine/cursor.ts";
import { writtenBy } from "../engine/logger-count.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import {
  decodePieces,
  type Followed,
  followBytes,
  held,
  type OutputBytes,
  type OutputPiece,
  type StreamName,
} from "./follow-output.ts";
import type { OutputPart } from "./output-part.ts";
import { joinStreams, readWhole, takeText } from "./output-text.ts";
import { isCounted } from "./remarks.ts";
import type { ShellLife } from "./shell-life.ts";

export type StreamCursors = Readonly<Record<StreamName, Cursor>>;

export class ShellOutput {
  readonly #started: StartedShell;
  readonly #life: ShellLife;
  /** Where the output begins in its files, in bytes. */
  readonly from: Readonly<Record<StreamName, number>>;
  readonly #readers = new Map<string, StreamCursors>();

  constructor(started: StartedShell, life: ShellLife) {
    this.#started = started;
    this.#life = life;
    const { output } = started.meta;
    this.from = { stdout: output?.stdout.from ?? 0, stderr: output?.stderr.from ?? 0 };
  }

  get parts(): Readonly<Record<StreamName, OutputPart>> {
    return { stdout: this.#part("stdout"), stderr: this.#part("stderr") };
  }

  #part(stream: StreamName): OutputPart {
    const path = this.#started.files[stream];
    const to = Math.min(sizeOf(path), this.#started.meta.output?.[stream].to ?? Number.POSITIVE_INFINITY);
    // If the file ends before the start of the output, a process has truncated the file, and the whole content is new.
    return { path, from: to < this.from[stream] ? 0 : this.from[stream], to };
  }

  /** The positions of one reader. Readers do not disturb each other. */
  cursors(reader: string): StreamCursors {
    const known = this.#readers.get(reader);
    if (known) return known;
    const cursors = { stdout: this.#cursor("stdout"), stderr: this.#cursor("stderr") };
    this.#readers.set(reader, cursors);
    return cursors;
  }

  #cursor(stream: StreamName): Cursor {
    return new Cursor(this.#started.files[stream], this.from[stream], () => this.#written(stream));
  }

  /** Bytes ever written to the file, including those that a process has cut off; undefined if not known. */
  #written(stream: StreamName): number | undefined {
    const { loggers, meta } = this.#started;
    if (!isCounted(meta)) return undefined;
    const { record } = this.#life;
    if (record) return stream === "stdout" ? record.stdoutBytes : record.stderrBytes;
    return loggers && writtenBy(loggers[stream]);
  }

  /** The streams whose file a reader found truncated. */
  get truncated(): ReadonlySet<StreamName> {
    const readers = [...this.#readers.values()];
    return new Set(STREAMS.filter((stream) => readers.some((cursors) => cursors[stream].wasTruncated)));
  }

  takeNew(reader: string, includeStderr: boolean): string {
    const { stdout, stderr } = this.cursors(reader);
    const ended = this.#life.outcome !== undefined;
    return joinStreams(takeText(stdout, ended), includeStderr ? takeText(stderr, ended) : "");
  }

  all(): string {
    const { stdout, stderr } = this.parts;
    return joinStreams(readWhole(stdout.path, stdout.from), readWhole(stderr.path, stderr.from));
  }

  follow({ signal }: Pick<Followed, "signal"> = {}): AsyncGenerator<OutputPiece, void, void> {
    return held(decodePieces(followBytes(this.#started.files, { ...this.#followed(), signal })));
  }

  followBytes({
    from = this.from,
    signal,
  }: Pick<Followed, "from" | "signal">): AsyncGenerator<OutputBytes, void, void> {
    return held(followBytes(this.#started.files, { ...this.#followed(), from, signal }));
  }

  #followed(): Followed {
    const { ended } = this.#life;
    return { hasEnded: () => this.#life.outcome !== undefined, ended, from: this.from };
  }
}

const STREAMS = ["stdout", "stderr"] as const;
