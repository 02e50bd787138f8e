// The terminal of one shell: types input, draws the screen, and reports what the program waits for.
//
//   write, press -> encode (key-codes.ts) -> typeBytes (input-pipe.ts) -> script -> the program
//   view         <- LiveScreen (live-screen.ts) <- spool <- script <- the program
//   waiting      <- WaitingProbe (waiting.ts) <- /proc
//   answer       follows the output and answers queries, in the one host that owns the shell
import { type FSWatcher, watch } from "node:fs";
import { sizeOf } from "../engine/cursor.ts";
import type { TerminalSize } from "../engine/meta.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { setTerminalSize } from "../engine/terminal-settings.ts";
import { throwIfAborted } from "../support/abort.ts";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { holdEventLoop } from "../support/event-loop-hold.ts";
import {
  TERMINAL_INPUT_MAX_BYTES,
  TERMINAL_POLL_MS,
  TERMINAL_REACTION_MAX_MS,
  TERMINAL_READER_MAX_MS,
  TERMINAL_SETTLE_MS,
  TERMINAL_SETTLE_UNSURE_MS,
  TERMINAL_TYPE_MAX_MS,
  WATCH_FALLBACK_MS,
} from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import { typeBytes } from "./input-pipe.ts";
import { checkKey, encodeKey, encodeTyped, type KeyModes, typedPieces } from "./key-codes.ts";
import { LiveScreen } from "./live-screen.ts";
import type { CursorPosition, ScreenRow } from "./screen.ts";
import { terminalHandle } from "./terminal-foreground.ts";
import { appendSize, terminalSizeOf } from "./terminal-size.ts";
import { type Waiting, WaitingProbe, type WaitingState } from "./waiting.ts";

export interface TerminalView {
  readonly rows: readonly ScreenRow[];
  readonly cursor: CursorPosition;
  /** The text before the cursor in its row. A wide character takes two columns. */
  readonly beforeCursor: string;
  readonly size: TerminalSize;
  readonly waiting: Waiting;
  readonly isFullScreen: boolean;
  readonly modes: KeyModes;
  /** Whether the output is so long that only its end was drawn. */
  readonly isPartial: boolean;
}

export interface TerminalInput {
  readonly text?: string | undefined;
  readonly keys?: readonly string[] | undefined;
}

export interface ShellTerminalOptions {
  readonly started: StartedShell;
  /** The initial size. */
  readonly size: TerminalSize;
  /** How the shell ended, in words; undefined while it runs. */
  readonly ending: () => string | undefined;
}

export class ShellTerminal {
  readonly #options: ShellTerminalOptions;
  readonly #screen: LiveScreen;
  readonly #probe: WaitingProbe;
  #inputs: Promise<unknown> = Promise.resolve();
  /** The reader's `turns` at the last Enter. While they are unchanged, the reader has not read the line. */
  #enteredAt: string | undefined;
  #typing: Promise<unknown> = Promise.resolve();
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isFollowing = false;
  #hasChanged = false;

  constructor(options: ShellTerminalOptions) {
    this.#options = options;
    const { started, size } = options;
    this.#probe = new WaitingProbe(started);
    this.#screen = new LiveScreen({
      files: started.files,
      size,
      onAnswer: (text) => void this.#type(Buffer.from(text, "latin1")).catch(() => {}),
    });
  }

  /** The current screen, even after the end of the shell, and what the program waits for. */
  async view(): Promise<TerminalView> {
    const { waiting } = await this.state();
    const screen = await this.#screen.current();
    const { rows, cursor, beforeCursor, size, isFullScreen, modes } = screen;
    const { isPartial } = this.#screen;
    return { rows, cursor, beforeCursor, size, waiting, isFullScreen, modes, isPartial };
  }

  async state(): Promise<WaitingState> {
    if (this.hasEnded) return { waiting: "no", reader: undefined, foreground: undefined };
    return await this.#probe.read();
  }

  get hasEnded(): boolean {
    return this.#options.ending() !== undefined;
  }

  /** Throws for input that cannot be typed. */
  check({ text = "", keys = [] }: TerminalInput): void {
    for (const key of keys) checkKey(key);
    const bytes = Buffer.byteLength(text);
    if (bytes > TERMINAL_INPUT_MAX_BYTES) {
      throw new NacreError(
        "invalid_input",
        `The text has ${bytes} bytes; one call types at most ${TERMINAL_INPUT_MAX_BYTES}. Write it to a file and let the program read the file, or type it in parts.`,
      );
    }
    const ending = this.#options.ending();
    if (ending === undefined) return;
    throw new NacreError(
      "unavailable",
      `Shell ${this.#options.started.id} ${ending}, so nothing can be typed. Read its last screen with BashOutput, or start the command again.`,
    );
  }

  /**
   * Types the text, then the keys. Refuses text at a prompt for a secret, unless `secret` says that a person is typing.
   * Calls run one after another: otherwise two inputs would mix.
   */
  async type(input: TerminalInput, { secret = false } = {}): Promise<void> {
    using _hold = holdEventLoop();
    this.check(input);
    const typed = this.#inputs.then(() => this.#typeInput(input, secret));
    this.#inputs = typed.catch(() => {});
    await typed;
  }

  async #typeInput({ text = "", keys = [] }: TerminalInput, isSecret: boolean): Promise<void> {
    const { modes } = await this.#screen.current();
    const pressed = keys.map((key) => encodeKey(key, modes)).join("");
    if (text === "" || isSecret) return await this.#typePiece(encodeTyped(text, modes) + pressed);
    const pieces = typedPieces(text, modes);
    const deadline = monotonicMs() + TERMINAL_TYPE_MAX_MS;
    for (const [index, piece] of pieces.entries()) {
      const maxMs = Math.min(TERMINAL_READER_MAX_MS, deadline - monotonicMs());
      if ((await this.#probe.readyForText(maxMs, this.#enteredAt)) === "secret")
        throw secretPrompt(this.#options.started.id, index);
      await this.#typePiece(index === pieces.length - 1 ? piece + pressed : piece);
    }
  }

  async #typePiece(piece: string): Promise<void> {
    // Remember the reader's turns only for input with Enter: other input does not wake a program that reads lines.
    if (piece.includes("\r")) this.#enteredAt = this.#probe.turns();
    await this.typeBytes(Buffer.from(piece));
  }

  /** Types bytes unchanged. */
  async typeBytes(bytes: Uint8Array): Promise<void> {
    const count = await this.#type(bytes);
    if (count === bytes.length) return;
    this.check({});
    throw new NacreError(
      "limit_reached",
      `The program does not read its input: ${count} of ${bytes.length} bytes were typed. Look at the screen, and press Ctrl-C to interrupt it.`,
    );
  }

  /** Types one piece at a time, so that an answer to a query can come between two pieces, but never inside a piece. */
  async #type(bytes: Uint8Array): Promise<number> {
    if (bytes.length === 0) return 0;
    const typed = this.#typing.then(() => typeBytes(this.#options.started, bytes));
    this.#typing = typed.catch(() => {});
    return await typed;
  }

  /** The state before typing. Pass it to `settle` as `since`: a different state shows that the program has reacted. */
  async mark(): Promise<string> {
    return this.#markOf(await this.state());
  }

  #markOf({ reader }: WaitingState): string {
    return `${reader?.turns} ${sizeOf(this.#options.started.files.stdout)}`;
  }

  /** Returns when the program waits for input and its screen is stable, when it ends, or at the timeout. */
  async settle(
    maxMs: number,
    { since, signal }: { since?: string | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    using _hold = holdEventLoop();
    const startedMs = monotonicMs();
    let seen = "";
    let seenMs = startedMs;
    for (;;) {
      throwIfAborted(signal);
      if (this.hasEnded) return;
      const state = await this.state();
      const nowMs = monotonicMs();
      const { waiting, reader, foreground } = state;
      const now = `${waiting} ${reader?.pid} ${sizeOf(this.#options.started.files.stdout)} ${foreground?.isRelayIdle}`;
      if (now !== seen) seenMs = nowMs;
      seen = now;
      const hasReacted =
        since === undefined || this.#markOf(state) !== since || nowMs - startedMs > TERMINAL_REACTION_MAX_MS;
      // Wait longer for a timed read: after Escape, an editor pauses before it acts, even before it exits.
      const isUnsure = waiting === "maybe" || reader?.isTimed === true;
      const settleMs = isUnsure ? TERMINAL_SETTLE_UNSURE_MS : TERMINAL_SETTLE_MS;
      const isQuiet = foreground?.isRelayIdle === true && nowMs - seenMs >= settleMs;
      if (waiting !== "no" && hasReacted && isQuiet) return;
      if (nowMs - startedMs >= maxMs) return;
      await sleep(Math.min(TERMINAL_POLL_MS, maxMs - (nowMs - startedMs)));
    }
  }

  /** Changes the size. The kernel notifies the program. */
  async resize(wanted: Partial<TerminalSize>): Promise<void> {
    const size = terminalSizeOf(wanted);
    const { started } = this.#options;
    const { foreground } = await this.state();
    const handle = foreground && terminalHandle(foreground);
    if (!handle || !(await setTerminalSize(handle.pid, handle.fd, size))) {
      this.check({});
      throw new NacreError(
        "unavailable",
        `The size of the terminal of ${started.id} cannot be set: none of its processes has it open.`,
      );
    }
    appendSize(started.files.sizes, { at: sizeOf(started.files.stdout), ...size });
  }

  /**
   * Answers the program's queries, from now on or from the start of the output. Only the host that owns the shell calls
   * this.
   */
  answer(from: "start" | "now"): void {
    const { files } = this.#options.started;
    this.#screen.answerFrom(from === "start" ? 0 : sizeOf(files.stdout));
    if (this.#timer) return;
    const draw = () => void this.#follow();
    // Neither the timer nor the watcher keeps this process alive.
    this.#timer = setInterval(draw, WATCH_FALLBACK_MS).unref();
    try {
      this.#watcher = watch(files.dir, { persistent: false }, draw);
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch {
      // The system has no inotify watches left: rely on the timer.
    }
  }

  /** Draws until there is no new output. Changes during a draw cause only one more draw. */
  async #follow(): Promise<void> {
    this.#hasChanged = true;
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    while (this.#hasChanged) {
      this.#hasChanged = false;
      await this.#screen.current().catch(() => {});
    }
    this.#isFollowing = false;
  }

  /** Stops answering. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#screen.answerFrom(Number.POSITIVE_INFINITY);
  }
}

function secretPrompt(id: string, typedLines: number): NacreError {
  const lines = typedLines === 1 ? "1 line of the text was" : `${typedLines} lines of the text were`;
  const before = typedLines === 0 ? "" : ` Before that, ${lines} typed.`;
  return new NacreError(
    "secret_prompt",
    `The program asks for a secret, such as a password, and does not show what is typed. nacre does not type secrets for a model.${before} Ask the user to type it with: nacre attach ${id}. Keys such as Ctrl-C and Enter still work.`,
  );
}
