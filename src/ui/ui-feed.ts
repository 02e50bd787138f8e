// What the page shows, kept up to date while at least one page is connected: looks at the shells and the approvals on
// disk at an interval, and passes on what has changed. Nothing runs while no page is connected.
import type { ApprovalInbox } from "../approvals/approval-inbox.ts";
import type { ApprovalEntry } from "../approvals/approval-record.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ShellManager } from "../shell-manager.ts";
import { monotonicMs, wallMs } from "../support/clock.ts";
import { UI_ENDED_MAX_COUNT, UI_POLL_MS, UI_PROCESSES_POLL_MS } from "../support/limits.ts";
import { ProcessFigures } from "./process-figures.ts";
import { LastLines, type Sanitize, type ShellRow, shellRow } from "./shell-rows.ts";

export interface UiState {
  readonly shells: readonly ShellRow[];
  readonly approvals: readonly ApprovalEntry[];
}

/** The rows that have changed, and the ids of those that are gone. */
export interface UiChange extends UiState {
  /** The time of the server, in milliseconds since the epoch. */
  readonly now: number;
  readonly gone: readonly string[];
}

type Listener = (change: UiChange) => void;

export class UiFeed {
  readonly #manager: ShellManager;
  readonly #inbox: ApprovalInbox;
  readonly #lines: LastLines;
  readonly #figures: ProcessFigures;
  readonly #listeners = new Set<Listener>();
  /** The last state of each row, as JSON. */
  readonly #known = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #measuredMs = Number.NEGATIVE_INFINITY;
  #isLooking = false;

  constructor(manager: ShellManager, inbox: ApprovalInbox, sanitize: Sanitize) {
    this.#manager = manager;
    this.#inbox = inbox;
    this.#lines = new LastLines(sanitize);
    this.#figures = new ProcessFigures(manager.engine);
  }

  /** The rows now. */
  state(): UiState {
    return { shells: this.#rows(), approvals: this.#inbox.list() };
  }

  /** Calls the listener with everything at once, then with each change. Returns a function that removes it. */
  subscribe(listener: Listener): () => void {
    listener({ now: wallMs(), gone: [], ...this.state() });
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => void this.#look(), UI_POLL_MS);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#known.clear();
    };
  }

  /** Looks now instead of at the next interval: after an answer or a kill. */
  async refresh(): Promise<void> {
    await this.#look();
  }

  async #look(): Promise<void> {
    // A slow machine must not pile up looks.
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#measure();
      const { shells, approvals } = this.state();
      const rows = new Map<string, ShellRow | ApprovalEntry>(
        [...shells, ...approvals].map((row) => [row.id, row]),
      );
      const isNew = ({ id }: { readonly id: string }) => {
        const text = JSON.stringify(rows.get(id));
        const before = this.#known.get(id);
        this.#known.set(id, text);
        return before !== text;
      };
      const gone = [...this.#known.keys()].filter((id) => !rows.has(id));
      for (const id of gone) this.#known.delete(id);
      const change = {
        now: wallMs(),
        gone,
        shells: shells.filter(isNew),
        approvals: approvals.filter(isNew),
      };
      if (gone.length + change.shells.length + change.approvals.length === 0) return;
      for (const listener of this.#listeners) listener(change);
    } finally {
      this.#isLooking = false;
    }
  }

  async #measure(): Promise<void> {
    if (monotonicMs() - this.#measuredMs < UI_PROCESSES_POLL_MS) return;
    this.#measuredMs = monotonicMs();
    const running = this.#manager.findAll().filter(({ isRunning }) => isRunning);
    await this.#figures.measure(running.map(({ started }) => started));
  }

  #rows(): ShellRow[] {
    const shells = this.#shells();
    this.#lines.keep(new Set(shells.map(({ id }) => id)));
    return shells.map((shell) => shellRow(shell, this.#lines, this.#figures.of(shell.id)));
  }

  /** All that run, and the newest of those that have ended. The bash of an ended session is of no interest. */
  #shells(): ShellProcess[] {
    const all = this.#manager.findAll();
    const ended = all.filter((shell) => !shell.isRunning && !shell.started.meta.isSessionBash);
    return [...all.filter(({ isRunning }) => isRunning), ...ended.slice(-UI_ENDED_MAX_COUNT)];
  }
}
