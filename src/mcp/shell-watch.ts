// Notices what changes about the shells of a scope: output, an end, a new one. Looks a few times a second, and
// only while a client has subscribed.

import { sizeOf } from "../engine/cursor.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { MCP_WATCH_INTERVAL_MS } from "../support/limits.ts";

export interface ShellWatcher {
  /** There are others than before. */
  onList(): void;
  /** It has printed something, or has ended. */
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

  /** Returns how to stop. */
  add(watcher: ShellWatcher): () => void {
    // Each is told of what changes from now on.
    if (this.#watchers.size === 0) this.#seen = this.#look();
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
    const now = this.#look();
    this.#seen = now;
    const changed = [...now].filter(([id, state]) => before.has(id) && before.get(id) !== state);
    const others = now.size !== before.size || [...now.keys()].some((id) => !before.has(id));
    for (const watcher of this.#watchers) {
      if (others) watcher.onList();
      for (const [id] of changed) watcher.onChange(id);
    }
  }

  #look(): ReadonlyMap<string, string> {
    return new Map(this.#shells().map((shell) => [shell.id, stateOf(shell)]));
  }
}

function stateOf(shell: ShellProcess): string {
  const { stdout, stderr } = shell.outputFiles;
  return `${shell.status} ${sizeOf(stdout)} ${sizeOf(stderr)}`;
}
