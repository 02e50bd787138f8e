// What the program in a terminal waits for. The kernel knows: which process is blocked on the terminal, and whether the
// terminal collects lines and shows what is typed.

import type { StartedShell } from "../engine/started-shell.ts";
import { readTerminalSettings, type TerminalSettings } from "../engine/terminal-settings.ts";
import {
  readerOfTerminal,
  type TerminalForeground,
  type TerminalReader,
  terminalHandle,
  terminalsOf,
} from "./terminal-foreground.ts";

/**
 * "line": text and Enter. "key": single keys. "secret": a line that is not shown, such as a password. "maybe": the kernel
 * does not show what it waits for. "no": it does not wait for input.
 */
export type Waiting = "line" | "key" | "secret" | "maybe" | "no";

export interface WaitingState {
  readonly waiting: Waiting;
  readonly reader: TerminalReader | undefined;
  readonly foreground: TerminalForeground | undefined;
}

export class WaitingProbe {
  readonly #started: Pick<StartedShell, "commandPid">;
  /** The last settings, and the reader that had them. A reader that has not run since has not changed them. */
  #known: { readonly turns: string; readonly settings: TerminalSettings | undefined } | undefined;

  constructor(started: Pick<StartedShell, "commandPid">) {
    this.#started = started;
  }

  async read(): Promise<WaitingState> {
    const [own, ...nested] = terminalsOf(this.#started);
    if (!own) return { waiting: "no", reader: undefined, foreground: undefined };
    const { waiting, reader } = await this.#readOne(own);
    if (waiting === "key" || waiting === "maybe") {
      // A program that passes keys on to a terminal of its own: the program in there knows what it waits for.
      for (const terminal of nested) {
        const inner = await this.#readOne(terminal);
        if (inner.reader) return { ...inner, foreground: own };
      }
    }
    return { waiting, reader, foreground: own };
  }

  /**
   * Whether typed text would be a secret: the terminal, or one inside it, collects lines without showing them. Also true
   * while no process reads: the next read would get what is typed now.
   */
  async isSecret(): Promise<boolean> {
    for (const terminal of terminalsOf(this.#started)) {
      const handle = terminalHandle(terminal);
      const settings = handle && (await readTerminalSettings(handle.pid, handle.fd));
      if (settings && isHidden(settings)) return true;
    }
    return false;
  }

  async #readOne(terminal: TerminalForeground): Promise<Pick<WaitingState, "waiting" | "reader">> {
    const reader = readerOfTerminal(terminal);
    if (!reader) return { waiting: "no", reader };
    return { waiting: waitingOf(reader, await this.#settingsOf(reader, terminal)), reader };
  }

  async #settingsOf(
    { pid, turns }: TerminalReader,
    foreground: TerminalForeground,
  ): Promise<TerminalSettings | undefined> {
    if (this.#known?.turns === turns) return this.#known.settings;
    const handle = terminalHandle(foreground, pid);
    const settings = handle && (await readTerminalSettings(handle.pid, handle.fd));
    this.#known = { turns, settings };
    return settings;
  }
}

function waitingOf({ isSure }: TerminalReader, settings: TerminalSettings | undefined): Waiting {
  if (!settings) return "maybe";
  if (isHidden(settings)) return "secret";
  if (!isSure) return "maybe";
  return settings.isCanonical ? "line" : "key";
}

function isHidden({ isCanonical, isEchoing }: TerminalSettings): boolean {
  return isCanonical && !isEchoing;
}
