// A run that a program can await, or read while the command runs. LiveOutput follows the output of one command:
// begin() sets the position at which the output begins, and finish() the position at which it ends. Each reader
// starts from the beginning.
import { dirname } from "node:path";
import {
  decodePieces,
  followBytes,
  held,
  type OutputPiece,
  type StreamName,
} from "../shell/follow-output.ts";
import { asAborted } from "../support/abort.ts";
import { messageOf } from "../support/errors.ts";
import { deferred } from "../support/timing.ts";

/** A promise of the result that is also an async iterable of the output. The iteration ends when the command ends. */
export interface PendingRun<R> extends Promise<R>, AsyncIterable<OutputPiece> {}

/**
 * Receives each piece of output once. If it returns a promise, the next piece is delivered after that promise resolves.
 */
export type OutputListener = (piece: OutputPiece) => unknown;

type Positions = Readonly<Record<StreamName, { readonly path: string; readonly from: number }>>;
type Ends = Readonly<Record<StreamName, { readonly to: number }>>;

export class LiveOutput {
  readonly #listener: OutputListener | undefined;
  readonly #hasBegun = deferred();
  #ended = deferred();
  #begin: Positions | undefined;
  #end: Ends | undefined;
  #isOver = false;
  #copying: Promise<void> | undefined;
  #failure: string | undefined;

  constructor(listener: OutputListener | undefined) {
    this.#listener = listener;
  }

  /** Call this again if another bash runs the command instead. The new positions replace the old ones. */
  begin(positions: Positions): void {
    this.#begin = positions;
    this.#hasBegun.resolve();
    // Wakes the readers that wait on the replaced files.
    this.#ended.resolve();
    this.#ended = deferred();
    this.#copying ??= this.#copy();
  }

  /**
   * Resolves when the listener has received everything. Returns the message of the error that the listener threw, if
   * any.
   */
  async finish(ends: Ends | undefined): Promise<string | undefined> {
    this.#end = ends;
    this.#isOver = true;
    this.#hasBegun.resolve();
    this.#ended.resolve();
    await this.#copying;
    return this.#failure;
  }

  async *pieces(): AsyncGenerator<OutputPiece, void, void> {
    await this.#hasBegun.promise;
    for (let begin = this.#begin; begin; begin = begin === this.#begin ? undefined : this.#begin) {
      const { stdout, stderr } = begin;
      const files = { dir: dirname(stdout.path), stdout: stdout.path, stderr: stderr.path };
      const isReplaced = () => begin !== this.#begin;
      const bytes = followBytes(files, {
        hasEnded: () => this.#isOver || isReplaced(),
        ended: this.#ended.promise,
        from: { stdout: stdout.from, stderr: stderr.from },
        to: (stream) => this.#end?.[stream].to,
      });
      yield* held(decodePieces(bytes));
    }
  }

  async #copy(): Promise<void> {
    const listener = this.#listener;
    if (!listener) return;
    try {
      for await (const piece of this.pieces()) await listener(piece);
    } catch (error) {
      this.#failure = `The output listener failed: ${messageOf(error)}`;
    }
  }
}

/** Calls `start` immediately. Both `await` and iteration report an error of `start`. */
export function pendingRun<R extends { readonly notes: readonly string[] }>(
  listener: OutputListener | undefined,
  start: (live: LiveOutput) => Promise<{ readonly result: R; readonly ends: Ends }>,
  signal?: AbortSignal,
): PendingRun<R> {
  const live = new LiveOutput(listener);
  const run = async (): Promise<R> => {
    const { result, ends } = await start(live).catch(async (error: unknown) => {
      await live.finish(undefined);
      throw asAborted(error, signal);
    });
    const failure = await live.finish(ends);
    return failure === undefined ? result : { ...result, notes: [...result.notes, failure] };
  };
  const result = run();
  const iterate = async function* () {
    yield* live.pieces();
    await result;
  };
  return Object.assign(result, {
    [Symbol.asyncIterator]: () => {
      // The iteration reports the error. Without this catch, the promise that no caller awaits would also report it, as
      // an unhandled rejection.
      result.catch(() => {});
      return iterate();
    },
  });
}
