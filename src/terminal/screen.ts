// The screen of one terminal: an emulator without a window (@xterm/headless), loaded when a terminal is first used. Plain
// rows come out, never an escape sequence.
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
  /** The row continues the row above it, because the line is longer than the screen is wide. */
  readonly isContinued: boolean;
}

export class Screen {
  readonly #terminal: Terminal;

  private constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** `onAnswer` gets what the terminal answers to a query of the program, such as the position of the cursor. */
  static async create(size: TerminalSize, onAnswer: (text: string) => void): Promise<Screen> {
    const { default: headless } = await import("@xterm/headless");
    const { Terminal: Emulator } = headless;
    // Without scrollback: the spool has everything that ever scrolled off.
    const terminal = new Emulator({ ...size, scrollback: 0, allowProposedApi: true, logLevel: "off" });
    terminal.onData(onAnswer);
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
