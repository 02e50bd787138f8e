// `nacre send`: types into the terminal of a shell, whichever program started it, and prints the screen.

import { resolveExecutionOptions } from "../../execution/execution-options.ts";
import { sanitizerFor } from "../../execution/render.ts";
import { viewTerminal } from "../../execution/terminal-view.ts";
import { TERMINAL_WAIT_MS } from "../../support/limits.ts";
import { createContext } from "../../tool/context.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager, shellById } from "../find-shell.ts";
import { printJson, remark } from "../print.ts";

export interface SendOptions {
  readonly id: string;
  readonly text: string;
  readonly key?: readonly string[];
  readonly keys?: readonly string[];
  readonly enter?: boolean;
  /** Milliseconds. */
  readonly wait?: number;
  readonly json?: boolean;
}

export async function sendInput(io: CliIo, options: SendOptions): Promise<number> {
  const { id, text, enter = false, wait = TERMINAL_WAIT_MS, json = false } = options;
  const manager = readOnlyManager();
  const shell = shellById(manager, id);
  const terminal = shell.needTerminal();
  const keys = [...(enter ? ["Enter"] : []), ...(options.key ?? []), ...(options.keys ?? [])];
  if (text !== "" || keys.length > 0) {
    const since = await terminal.mark();
    await terminal.type({ text, keys });
    await terminal.settle(wait, { since });
  }
  const execution = resolveExecutionOptions({ manager });
  const {
    metadata,
    text: shown,
    notes,
  } = await viewTerminal(shell, createContext({ workingDir: io.cwd }), execution);
  const { status, exitCode: exit_code, isRunning: is_running } = shell;
  if (json) printJson(io, { bash_id: shell.id, status, exit_code, is_running, ...metadata });
  else io.stdout.write(`${sanitizerFor(execution)(shown)}\n`);
  if (!json) for (const note of notes) remark(io, note);
  return EXIT.ok;
}
