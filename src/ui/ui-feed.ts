// The state that the page shows. While at least one page is connected, polls the shells of all machines and the
// approvals, and passes on the changes. Nothing runs while no page is connected.
import { wallMs } from "../support/clock.ts";
import { UI_POLL_MS } from "../support/limits.ts";
import type { PageApproval } from "./page-approvals.ts";
import type { MachineState } from "./remote-shells.ts";
import type { ShellRow } from "./shell-rows.ts";

export interface UiState {
  readonly shells: readonly ShellRow[];
  readonly approvals: readonly PageApproval[];
  /** The remote machines. */
  readonly machines: readonly MachineState[];
  /** Ended shells of this machine that are not in `shells`, because there are too many. @default 0 */
  readonly older_count?: number;
}

/** The changed rows, and the ids of the removed rows. `machines` and `older_count` are always complete. */
export interface UiChange extends UiState {
  /** The time of the server, in milliseconds since the epoch. */
  readonly now: number;
  readonly gone: readonly string[];
}

/** The source of the state. */
export interface FeedSource {
  state(): UiState;
  measure(): Promise<void>;
  /** Called with true when the first page connects, and with false when the last page disconnects. */
  watch?(isWatched: boolean): void;
}

type Listener = (change: UiChange) => void;

export class UiFeed {
  readonly #source: FeedSource;
  readonly #listeners = new Set<Listener>();
  /** The last state of each row, as JSON. */
  readonly #known = new Map<string, string>();
  /** The last state of everything else, as JSON. */
  #rest = "";
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;

  constructor(source: FeedSource) {
    this.#source = source;
  }

  /** The rows now. */
  state(): UiState {
    return this.#source.state();
  }

  /** Calls the listener at once with the whole state, then with each change. Returns a function that removes it. */
  subscribe(listener: Listener): () => void {
    if (this.#listeners.size === 0) this.#source.watch?.(true);
    listener({ now: wallMs(), gone: [], ...this.state() });
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => void this.#poll(), UI_POLL_MS);
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#known.clear();
      this.#source.watch?.(false);
    };
  }

  /** Polls now instead of at the next interval. Call this after an answer or a kill. */
  async refresh(): Promise<void> {
    await this.#poll();
  }

  async #poll(): Promise<void> {
    // Skip this poll if the last one is still running: otherwise polls would accumulate on a slow machine.
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      await this.#source.measure();
      const change = this.#changeTo(this.state());
      if (change) for (const listener of this.#listeners) listener(change);
    } finally {
      this.#isPolling = false;
    }
  }

  /** undefined if nothing has changed. */
  #changeTo({ shells, approvals, ...rest }: UiState): UiChange | undefined {
    const ids = new Set<string>();
    const isNew = (row: ShellRow | PageApproval) => {
      ids.add(row.id);
      const text = JSON.stringify(row);
      const before = this.#known.get(row.id);
      this.#known.set(row.id, text);
      return before !== text;
    };
    const changed = { shells: shells.filter(isNew), approvals: approvals.filter(isNew) };
    const gone = [...this.#known.keys()].filter((id) => !ids.has(id));
    for (const id of gone) this.#known.delete(id);
    const restBefore = this.#rest;
    this.#rest = JSON.stringify(rest);
    const isSame =
      gone.length + changed.shells.length + changed.approvals.length === 0 && this.#rest === restBefore;
    return isSame ? undefined : { now: wallMs(), gone, ...changed, ...rest };
  }
}
