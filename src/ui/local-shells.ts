// The shells of this machine, for the page on this machine and, through remote/server/ui-endpoint.ts, for pages on
// other machines.
import { readStat } from "../engine/process-table.ts";
import { redact } from "../environment/redact.ts";
import { resolveExecutionOptions } from "../execution/execution-options.ts";
import { namedReport } from "../execution/leftovers.ts";
import { sanitizerFor } from "../execution/render.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ShellManager } from "../shell-manager.ts";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { UI_ENDED_MAX_COUNT, UI_PROCESSES_POLL_MS, UI_SEARCH_LINES_COUNT } from "../support/limits.ts";
import type { TerminalInput } from "../terminal/shell-terminal.ts";
import type { Waiting } from "../terminal/waiting.ts";
import { type OutputChunk, pageOutput } from "./page-output.ts";
import { pageScreens } from "./page-screens.ts";
import { ProcessFigures } from "./process-figures.ts";
import { LastLines, type Sanitize, type ShellRow, shellRow } from "./shell-rows.ts";
import type { PageEnd, PageScreen, PageSink, SearchQuery, ShellSource } from "./shell-source.ts";

export class LocalShells implements ShellSource {
  readonly #manager: ShellManager;
  readonly #redactText: Sanitize;
  readonly #lines: LastLines;
  readonly #figures: ProcessFigures;
  /** What the program in each terminal waits for. */
  #waiting = new Map<string, Waiting>();
  #measuredMs = Number.NEGATIVE_INFINITY;

  constructor(manager: ShellManager) {
    this.#manager = manager;
    const { droppedValues: values } = manager.environment;
    this.#redactText = (text) => redact(text, { values });
    this.#lines = new LastLines(sanitizerFor(resolveExecutionOptions({ manager })));
    this.#figures = new ProcessFigures(manager.engine);
  }

  rows(): readonly ShellRow[] {
    const shells = this.#shells();
    this.#lines.keep(new Set(shells.map(({ id }) => id)));
    return shells.map((shell) =>
      shellRow(shell, {
        lines: this.#lines,
        figures: this.#figures.of(shell.id),
        waiting: this.#waiting.get(shell.id) ?? "no",
      }),
    );
  }

  /** The number of ended shells that `rows` leaves out because newer ones fill the list. */
  olderCount(): number {
    return Math.max(0, endedOf(this.#manager.findAll()).length - UI_ENDED_MAX_COUNT);
  }

  async measure(): Promise<void> {
    if (monotonicMs() - this.#measuredMs < UI_PROCESSES_POLL_MS) return;
    this.#measuredMs = monotonicMs();
    const running = this.#manager.findAll().filter(({ isRunning }) => isRunning);
    await this.#figures.measure(running.map(({ started }) => started));
    const waiting = new Map<string, Waiting>();
    for (const { id, terminal } of running) if (terminal) waiting.set(id, (await terminal.state()).waiting);
    this.#waiting = waiting;
  }

  async output(id: string, { signal, send }: PageSink<readonly OutputChunk[]>): Promise<PageEnd> {
    const shell = this.#shell(id);
    for await (const chunks of pageOutput(shell, this.#redactText, signal)) await send(chunks);
    return endOf(shell);
  }

  async screen(id: string, { signal, send }: PageSink<PageScreen>): Promise<PageEnd> {
    const shell = this.#shell(id);
    for await (const screen of pageScreens(shell, this.#redactText, signal)) await send(screen);
    return endOf(shell);
  }

  async search(id: string, { pattern, stream }: SearchQuery): Promise<unknown> {
    const result = await this.#shell(id).search(pattern === "" ? undefined : pattern, {
      maxLines: UI_SEARCH_LINES_COUNT,
      ...(stream === undefined ? {} : { stream }),
    });
    const lines = result.lines.map((line) => ({ ...line, text: this.#redactText(line.text) }));
    return { ...result, lines };
  }

  async processes(id: string): Promise<unknown> {
    const diagnosis = await this.#shell(id).why();
    const processes = diagnosis.processes.map((one) => ({
      ...one,
      command: this.#redactText(one.command),
      parent: readStat(one.pid)?.parent ?? 0,
    }));
    return { ...diagnosis, processes };
  }

  async kill(id: string): Promise<unknown> {
    const shell = this.#shell(id);
    const wasRunning = shell.isRunning;
    const report = await shell.kill({ by: "the page" });
    return { id, status: shell.status, was_running: wasRunning, ...namedReport(report, shell) };
  }

  async type(id: string, input: TerminalInput): Promise<unknown> {
    await this.#shell(id).needTerminal().type(input, { secret: true });
    return { id };
  }

  #shell(id: string): ShellProcess {
    const shell = this.#manager.getShell(id);
    if (shell) return shell;
    throw new NacreError("shell_not_found", `Shell not found: ${id}. It may have been cleaned up.`);
  }

  /** All running shells, and the newest ended ones. Leaves out ended bashes of sessions and ended workers. */
  #shells(): ShellProcess[] {
    const all = this.#manager.findAll();
    return [...all.filter(({ isRunning }) => isRunning), ...endedOf(all).slice(-UI_ENDED_MAX_COUNT)];
  }
}

function endedOf(shells: readonly ShellProcess[]): ShellProcess[] {
  return shells.filter(({ isRunning, started }) => !isRunning && started.meta.role === undefined);
}

function endOf({ status, exitCode }: ShellProcess): PageEnd {
  return { status, exit_code: exitCode };
}
