// Detects what the program in a terminal waits for. The kernel shows which process is blocked on the terminal, and
// whether the terminal collects lines and echoes typed text.

import type { StartedShell } from "../engine/started-shell.ts";
import { readTerminalSettings, type TerminalSettings } from "../engine/terminal-settings.ts";
import { monotonicMs } from "../support/clock.ts";
import { TERMINAL_POLL_MS, TERMINAL_REACTION_MAX_MS } from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import {
  innermostReader,
  readerOfTerminal,
  type TerminalForeground,
  type TerminalReader,
  terminalHandle,
  terminalsOf,
} from "./terminal-foreground.ts";

/**
 * "line": text and Enter. "key": single keys. "secret": a line that is not shown, such as a password. "maybe": unknown,
 * because the kernel does not show what the program waits for. "no": the program does not wait for input.
 */
export type Waiting = "line" | "key" | "secret" | "maybe" | "no";

export interface WaitingState {
  readonly waiting: Waiting;
  readonly reader: TerminalReader | undefined;
  readonly foreground: TerminalForeground | undefined;
}

type Found = Pick<WaitingState, "waiting" | "reader">;

/** Programs that make a terminal for another program and do not react to keys themselves. */
const RELAYS: ReadonlySet<string> = new Set(["script", "su", "sudo", "runuser"]);

export class WaitingProbe {
  readonly #started: Pick<StartedShell, "commandPid">;
  /** The last settings, valid while the reader's turns stay the same: every change of the settings wakes the reader. */
  #known: { readonly turns: string; readonly settings: TerminalSettings | undefined } | undefined;

  constructor(started: Pick<StartedShell, "commandPid">) {
    this.#started = started;
  }

  async read(): Promise<WaitingState> {
    const [own, ...nested] = terminalsOf(this.#started);
    if (!own) return { waiting: "no", reader: undefined, foreground: undefined };
    return { ...(await this.#readWithin(own, nested)), foreground: own };
  }

  /** If a program passes keys on to a terminal that it made, checks the program in that inner terminal. */
  async #readWithin(terminal: TerminalForeground, nested: readonly TerminalForeground[]): Promise<Found> {
    const outer = await this.#readOne(terminal);
    const { reader, waiting } = outer;
    if (!reader || (waiting !== "key" && waiting !== "maybe")) return outer;
    const inside = nested.filter(({ maker }) => maker === reader.pid);
    for (const one of inside) {
      const inner = await this.#readWithin(one, nested);
      if (inner.reader) return inner;
    }
    if (inside.length === 0) return outer;
    // No program in the inner terminal waits. A relay does not react to keys itself, but an editor or a multiplexer
    // may.
    return RELAYS.has(reader.name)
      ? { waiting: "no", reader: undefined }
      : { waiting: "maybe", reader: { ...reader, isSure: false } };
  }

  /**
   * Resolves when text can be typed. The caller must then type at once. Resolves to "secret" if this terminal, or one
   * inside it, collects a line without showing it. This holds even while no process reads, because the next read would
   * get the typed text.
   *
   * Otherwise waits until a process reads and its turns differ from `since`, which shows that it has read the earlier
   * input. A process that is blocked both before and after nacre reads the settings has not changed them, and gets the
   * text. If no process reads, resolves after `maxMs`, or sooner if the terminal is not in line mode. A busy program
   * may then get the text before its next question.
   */
  async readyForText(maxMs: number, since: string | undefined): Promise<"ready" | "secret"> {
    const startedMs = monotonicMs();
    for (;;) {
      const before = this.turns();
      const settings = await this.#allSettings();
      if (settings.some(isHidden)) return "secret";
      const isReading = before !== undefined && before !== since && before === this.turns();
      const isRaw = settings.every(({ isCanonical }) => !isCanonical);
      const limitMs = isRaw ? Math.min(maxMs, TERMINAL_REACTION_MAX_MS) : maxMs;
      if (isReading || monotonicMs() - startedMs >= limitMs) return "ready";
      await sleep(TERMINAL_POLL_MS);
    }
  }

  /** The turns of the reader, which change whenever the reader has run; undefined if no process reads. */
  turns(): string | undefined {
    const [own, ...nested] = terminalsOf(this.#started);
    return own && innermostReader(own, nested)?.turns;
  }

  async #allSettings(): Promise<TerminalSettings[]> {
    const all: TerminalSettings[] = [];
    for (const terminal of terminalsOf(this.#started)) {
      const handle = terminalHandle(terminal);
      const settings = handle && (await readTerminalSettings(handle.pid, handle.fd));
      if (settings) all.push(settings);
    }
    return all;
  }

  async #readOne(terminal: TerminalForeground): Promise<Found> {
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

function waitingOf(
  { isSure, isBrief, hasSockets }: TerminalReader,
  settings: TerminalSettings | undefined,
): Waiting {
  if (!settings) return "maybe";
  if (isHidden(settings)) return "secret";
  if (!isSure || isBrief) return "maybe";
  // A server that also accepts commands on its terminal may be waiting for clients instead of a line. A program in
  // single-key mode waits, because it has set that mode itself.
  if (settings.isCanonical) return hasSockets ? "maybe" : "line";
  return "key";
}

function isHidden({ isCanonical, isEchoing }: TerminalSettings): boolean {
  return isCanonical && !isEchoing;
}
