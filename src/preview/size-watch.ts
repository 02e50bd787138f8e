// Measures the files of a running preview at intervals, and reports when they exceed a limit.
import { runSystemProgram } from "../engine/system-program.ts";
import { PREVIEW_MAX_ENTRIES_COUNT, PREVIEW_MEASURE_INTERVAL_MS } from "../support/limits.ts";
import { withOwnFiles } from "./own-files.ts";

export class SizeWatch {
  readonly #dir: string;
  readonly #maxBytes: number;
  readonly #onExceeded: (what: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(dir: string, maxBytes: number, onExceeded: (what: string) => void) {
    this.#dir = dir;
    this.#maxBytes = maxBytes;
    this.#onExceeded = onExceeded;
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.#measure(), PREVIEW_MEASURE_INTERVAL_MS);
    this.#timer.unref();
  }

  async #measure(): Promise<void> {
    const [bytes, entries] = await Promise.all([
      measured(this.#dir, "--block-size=1"),
      measured(this.#dir, "--inodes"),
    ]);
    if (this.#isStopped) return;
    if (bytes > this.#maxBytes) this.#exceed(`${this.#maxBytes} bytes`);
    else if (entries > PREVIEW_MAX_ENTRIES_COUNT) this.#exceed(`${PREVIEW_MAX_ENTRIES_COUNT} files`);
    else this.#schedule();
  }

  #exceed(what: string): void {
    this.stop();
    this.#onExceeded(what);
  }
}

/** Counts bytes or inodes below a directory with du; 0 if du fails. Ignores files that vanish while du runs. */
export async function measured(dir: string, unit: "--block-size=1" | "--inodes"): Promise<number> {
  const { stdout } = await runSystemProgram(withOwnFiles(["du", "--summarize", unit, "--", dir]));
  return Number.parseInt(stdout.toString("latin1"), 10) || 0;
}
