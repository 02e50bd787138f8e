// Detects changes of the shells in a scope: new output, an end, a new shell. Polls a few times per second, and only
// while a client has a subscription.

import { sizeOf } from "../engine/cursor.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { MCP_WATCH_INTERVAL_MS } from "../support/limits.ts";

export interface ShellWatcher {
  /** The set of shells changed. */
  onList(): void;
  /** The shell printed something or ended. */
  onChange(id: string): void;
}

export class ShellWatch {
  readonly #shells: () => readonly ShellProcess[];
  readonly #watchers = new Set<ShellWatcher>();
  #timer: NodeJS.Timeout | undefined;
  #seen: ReadonlyMap<string, string> = new Map();

  constructor(shells: () => readonly ShellProcess[]) {
    this.#shells = shells;
  }

  /** Returns a function that removes the watcher. */
  add(watcher: ShellWatcher): () => void {
    // A watcher sees only changes from now on.
    if (this.#watchers.size === 0) this.#seen = this.#snapshot();
    this.#watchers.add(watcher);
    this.#timer ??= setInterval(() => this.#compare(), MCP_WATCH_INTERVAL_MS).unref();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #compare(): void {
    const before = this.#seen;
    const now = this.#snapshot();
    this.#seen = now;
    const changed = [...now].filter(([id, state]) => before.has(id) && before.get(id) !== state);
    const others = now.size !== before.size || [...now.keys()].some((id) => !before.has(id));
    for (const watcher of this.#watchers) {
      if (others) watcher.onList();
      for (const [id] of changed) watcher.onChange(id);
    }
  }

  #snapshot(): ReadonlyMap<string, string> {
    return new Map(this.#shells().map((shell) => [shell.id, stateOf(shell)]));
  }
}

function stateOf(shell: ShellProcess): string {
  const { stdout, stderr } = shell.outputFiles;
  return `${shell.status} ${sizeOf(stdout)} ${sizeOf(stderr)}`;
}
