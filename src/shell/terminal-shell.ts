// The methods of a shell that type into its terminal and read its screen.
import type { TerminalSize } from "../engine/meta.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { NacreError } from "../support/errors.ts";
import { checkOptions } from "../support/option-checks.ts";
import type { CursorPosition } from "../terminal/screen.ts";
import { ShellTerminal } from "../terminal/shell-terminal.ts";
import type { Waiting } from "../terminal/waiting.ts";

/** The screen of a terminal as plain rows, and what its program waits for. Rows and columns count from 1. */
export interface ShellScreen {
  readonly screen: readonly string[];
  readonly cursor: CursorPosition;
  readonly waiting: Waiting;
}

export abstract class TerminalShell {
  readonly id: string;
  /** @internal */
  readonly started: StartedShell;
  /** undefined without a terminal. @internal */
  readonly terminal: ShellTerminal | undefined;

  /** `ending`: returns how the shell ended, in words; undefined while it runs. @internal */
  constructor(started: StartedShell, ending: () => string | undefined) {
    this.id = started.id;
    this.started = started;
    const { terminal } = started.meta;
    if (terminal) this.terminal = new ShellTerminal({ started, size: terminal, ending });
  }

  /**
   * Types text into the shell's terminal; a newline is Enter. If the program prompts for a secret, throws
   * `secret_prompt`, unless `secret` says that a person has typed the text. nacre does not store the text.
   */
  async write(text: string, options: { readonly secret?: boolean } = {}): Promise<void> {
    checkOptions("shell.write", options);
    await this.needTerminal().type({ text }, options);
  }

  /** Presses keys in the shell's terminal, such as Enter, Up, Ctrl-C, Alt-x or F1. */
  async press(...keys: readonly (string | readonly string[])[]): Promise<void> {
    await this.needTerminal().type({ keys: keys.flat() });
  }

  /** The current screen of the shell's terminal. Also available after the shell has ended. */
  async screen(): Promise<ShellScreen> {
    const { rows, cursor, waiting } = await this.needTerminal().view();
    return { screen: rows.map(({ text }) => text), cursor, waiting };
  }

  /** Changes the size of the shell's terminal, and notifies the program. */
  async resize(size: Partial<TerminalSize>): Promise<void> {
    await this.needTerminal().resize(size);
  }

  /** Throws for a shell without a terminal. @internal */
  needTerminal(): ShellTerminal {
    if (this.terminal) return this.terminal;
    throw new NacreError(
      "invalid_input",
      `Shell ${this.id} has no terminal, so nothing can be typed. Start the command with Bash {"run_in_background": true, "terminal": true}.`,
    );
  }
}
