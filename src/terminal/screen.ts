// The screen of one terminal: an emulator without a window (@xterm/headless), loaded when a terminal is first used.
// Returns rows of plain text, never an escape sequence.
import type { Terminal } from "@xterm/headless";
import type { TerminalSize } from "../engine/meta.ts";
import { plainText } from "../text/terminal.ts";
import type { KeyModes } from "./key-codes.ts";

/** Rows and columns count from 1. */
export interface CursorPosition {
  readonly row: number;
  readonly col: number;
}

export interface ScreenRow {
  readonly text: string;
  /** Whether the row continues the line of the row above it, because that line is longer than a row. */
  readonly isContinued: boolean;
}

/** The colors of text, background and cursor, by query number. The headless emulator itself has no colors. */
const COLORS: ReadonlyMap<number, string> = new Map([
  [10, "ffff/ffff/ffff"],
  [11, "0000/0000/0000"],
  [12, "ffff/ffff/ffff"],
]);

/**
 * Answers queries for colors. Programs use the answers to choose readable colors, and some programs wait for seconds if
 * no answer comes. One sequence can query several colors: each further part is a query for the next color number.
 * Returns false if the sequence sets a color.
 */
function answerColors(first: number, text: string, onAnswer: (text: string) => void): boolean {
  const parts = text.split(";");
  if (!parts.includes("?")) return false;
  for (const [index, part] of parts.entries()) {
    const color = COLORS.get(first + index);
    if (part === "?" && color !== undefined) onAnswer(`\x1b]${first + index};rgb:${color}\x1b\\`);
  }
  return true;
}

export class Screen {
  readonly #terminal: Terminal;

  private constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** `onAnswer` receives the terminal's answer to a query of the program, such as the position of the cursor. */
  static async create(size: TerminalSize, onAnswer: (text: string) => void): Promise<Screen> {
    const { default: headless } = await import("@xterm/headless");
    const { Terminal: Emulator } = headless;
    // Keep no scrollback, because the spool contains all earlier output.
    const terminal = new Emulator({ ...size, scrollback: 0, allowProposedApi: true, logLevel: "off" });
    terminal.onData(onAnswer);
    for (const [id] of COLORS)
      terminal.parser.registerOscHandler(id, (text) => answerColors(id, text, onAnswer));
    return new Screen(terminal);
  }

  /** Resolves when the bytes are drawn. */
  async write(bytes: Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => this.#terminal.write(bytes, resolve));
  }

  get size(): TerminalSize {
    return { rows: this.#terminal.rows, cols: this.#terminal.cols };
  }

  resize({ rows, cols }: TerminalSize): void {
    this.#terminal.resize(cols, rows);
  }

  get rows(): ScreenRow[] {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: this.#terminal.rows }, (_, index) => {
      const line = active.getLine(active.baseY + index);
      return { text: plainText(line?.translateToString(true) ?? ""), isContinued: line?.isWrapped ?? false };
    });
  }

  get cursor(): CursorPosition {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    return { row: cursorY + 1, col: Math.min(cursorX, this.#terminal.cols - 1) + 1 };
  }

  /** The text before the cursor in its row, padded with spaces. */
  get beforeCursor(): string {
    const { active } = this.#terminal.buffer;
    const line = active.getLine(active.baseY + active.cursorY);
    return plainText(line?.translateToString(false, 0, active.cursorX) ?? "");
  }

  get modes(): KeyModes {
    const { applicationCursorKeysMode, bracketedPasteMode } = this.#terminal.modes;
    return { applicationCursor: applicationCursorKeysMode, bracketedPaste: bracketedPasteMode };
  }

  /** Whether a program such as an editor has taken the whole screen. */
  get isFullScreen(): boolean {
    return this.#terminal.buffer.active.type === "alternate";
  }

  dispose(): void {
    this.#terminal.dispose();
  }
}
