// Reads the output of a run or a shell by offset while it grows. The client requests the bytes after those it has.
// So a lost link neither loses nor repeats bytes, and no output accumulates in memory.
import { dirname } from "node:path";
import { readRange, sizeOf } from "../../engine/cursor.ts";
import type { StreamName } from "../../shell/follow-output.ts";
import type { OutputPart } from "../../shell/output-part.ts";
import { OutputWatch } from "../../shell/output-watch.ts";
import { monotonicMs } from "../../support/clock.ts";
import { REMOTE_READ_MAX_BYTES, REMOTE_READ_WAIT_MS, REMOTE_RUNS_MAX_COUNT } from "../../support/limits.ts";
import { deferred, within } from "../../support/timing.ts";

type Parts = Readonly<Record<StreamName, OutputPart>>;

export interface OutputRequest {
  readonly stream: StreamName;
  readonly offset: number;
  readonly maxBytes: number;
  /** The longest wait for the first byte, in milliseconds. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface OutputAnswer {
  /** base64 */
  readonly data: string;
  /** Whether the stream ends after these bytes. */
  readonly eof: boolean;
}

export interface ReadableOutput {
  /** The positions of both streams on disk; undefined before the start. */
  parts(): Parts | undefined;
  hasEnded(): boolean;
  /** Resolves when the run starts, and again when it ends. */
  changed(): Promise<unknown>;
}

/** The output of one run, from its request to its end. */
export class RunOutput implements ReadableOutput {
  #parts: Parts | undefined;
  #isOver = false;
  #change = deferred();

  begin(parts: Parts): void {
    this.#parts = parts;
    this.#wake();
  }

  finish(parts: Parts | undefined): void {
    this.#parts = parts ?? this.#parts;
    this.#isOver = true;
    this.#wake();
  }

  parts(): Parts | undefined {
    return this.#parts;
  }

  hasEnded(): boolean {
    return this.#isOver;
  }

  changed(): Promise<unknown> {
    return this.#change.promise;
  }

  #wake(): void {
    this.#change.resolve();
    this.#change = deferred();
  }
}

/** The output of one client's most recent runs, by key. */
export class RunOutputs {
  readonly #outputs = new Map<string, RunOutput>();

  open(key: string): RunOutput {
    const output = this.get(key);
    const [oldest] = this.#outputs.keys();
    if (this.#outputs.size > REMOTE_RUNS_MAX_COUNT && oldest !== undefined) this.#outputs.delete(oldest);
    return output;
  }

  /** Creates the output if needed: the client may ask for it before the daemon has begun the run. */
  get(key: string): RunOutput {
    const known = this.#outputs.get(key) ?? new RunOutput();
    this.#outputs.set(key, known);
    return known;
  }
}

export async function readOutput(output: ReadableOutput, request: OutputRequest): Promise<OutputAnswer> {
  const { stream, offset, signal } = request;
  const maxBytes = Math.min(request.maxBytes, REMOTE_READ_MAX_BYTES);
  const deadline = monotonicMs() + Math.min(request.waitMs, REMOTE_READ_WAIT_MS);
  let watch: OutputWatch | undefined;
  try {
    for (;;) {
      // Check for the end before reading: once the end is known, all output is on disk.
      const ended = output.hasEnded();
      const part = output.parts()?.[stream];
      const bytes = part ? bytesAfter(part, offset, maxBytes, ended) : Buffer.alloc(0);
      if (bytes.length > 0 || ended) {
        const eof = ended && (!part || part.from + offset + bytes.length >= part.to);
        return { data: bytes.toString("base64"), eof };
      }
      const leftMs = deadline - monotonicMs();
      if (leftMs <= 0 || signal.aborted) return { data: "", eof: false };
      if (part) watch ??= new OutputWatch(dirname(part.path));
      const next = watch ? [output.changed(), watch.next(leftMs)] : [output.changed()];
      await within(leftMs, Promise.race(next), signal);
    }
  } finally {
    watch?.close();
  }
}

function bytesAfter(
  { path, from, to }: OutputPart,
  offset: number,
  maxBytes: number,
  ended: boolean,
): Buffer {
  // `to` is final only after the command has ended. Until then, read up to the end of the file.
  const end = ended ? to : sizeOf(path);
  return readRange(path, from + offset, Math.min(end, from + offset + maxBytes));
}
