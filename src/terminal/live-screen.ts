// Draws the output of a terminal: reads new output from the spool and writes it to the screen. The same bytes and sizes
// produce the same screen, so every host can draw it, even after the end of the shell.
import { readRange, sizeOf } from "../engine/cursor.ts";
import type { TerminalSize } from "../engine/meta.ts";
import type { ShellFiles } from "../engine/state-dir.ts";
import { TERMINAL_PIECE_BYTES, TERMINAL_REPLAY_MAX_BYTES } from "../support/limits.ts";
import { Screen } from "./screen.ts";
import { readSizes } from "./terminal-size.ts";

export interface LiveScreenOptions {
  readonly files: Pick<ShellFiles, "stdout" | "sizes">;
  readonly size: TerminalSize;
  /** Receives the answers to queries, for output from `answersFrom` on. */
  readonly onAnswer: (text: string) => void;
}

export class LiveScreen {
  readonly #options: LiveScreenOptions;
  #screen: Screen | undefined;
  #position = 0;
  #isPartial = false;
  #drawing: Promise<unknown> = Promise.resolve();
  /** The position of the first query to answer. Earlier queries were answered by another host, or are too old. */
  #answersFrom = Number.POSITIVE_INFINITY;
  #isAnswering = false;

  constructor(options: LiveScreenOptions) {
    this.#options = options;
  }

  /** Answers queries from this position on. Each query is answered once: a replay of earlier output answers nothing. */
  answerFrom(position: number): void {
    this.#answersFrom = position;
  }

  /** Whether the start of the output was skipped because the output is too long to replay. */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  /** Draws all output that is in the spool now, and returns the screen. Calls run one after another. */
  async current(): Promise<Screen> {
    const drawn = this.#drawing.then(() => this.#draw());
    this.#drawing = drawn.catch(() => {});
    return await drawn;
  }

  async #draw(): Promise<Screen> {
    const { stdout } = this.#options.files;
    const end = sizeOf(stdout);
    const isTruncated = end < this.#position;
    const isFarBehind = end - this.#position > TERMINAL_REPLAY_MAX_BYTES;
    if (isTruncated || isFarBehind) await this.#restart(Math.max(0, end - TERMINAL_REPLAY_MAX_BYTES));
    this.#screen ??= await this.#newScreen();
    const screen = this.#screen;
    const sizes = readSizes(this.#options.files.sizes);
    while (this.#position < end) {
      const next = sizes.find(({ at }) => at > this.#position)?.at ?? end;
      this.#resize(screen, sizes);
      const bytes = readRange(
        stdout,
        this.#position,
        Math.min(end, next, this.#position + TERMINAL_PIECE_BYTES),
      );
      // If the file was truncated meanwhile, the next call starts again.
      if (bytes.length === 0) break;
      this.#isAnswering = this.#position >= this.#answersFrom;
      await screen.write(bytes);
      this.#position += bytes.length;
    }
    this.#isAnswering = false;
    this.#resize(screen, sizes);
    return screen;
  }

  #resize(screen: Screen, sizes: ReturnType<typeof readSizes>): void {
    const size = sizes.findLast(({ at }) => at <= this.#position) ?? this.#options.size;
    const { rows, cols } = screen.size;
    if (rows !== size.rows || cols !== size.cols) screen.resize(size);
  }

  async #restart(position: number): Promise<void> {
    this.#screen?.dispose();
    this.#screen = undefined;
    this.#position = position;
    this.#isPartial = position > 0;
    await Promise.resolve();
  }

  async #newScreen(): Promise<Screen> {
    return await Screen.create(this.#options.size, (text) => {
      if (this.#isAnswering) this.#options.onAnswer(text);
    });
  }

  dispose(): void {
    this.#screen?.dispose();
    this.#screen = undefined;
    this.#position = 0;
  }
}
