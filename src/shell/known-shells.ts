// The shells a manager knows: its own (started or taken over), and those of other host processes that a caller has
// asked for. Watches the running shells, enforces their deadlines, and ends them.
import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { readStartedShell } from "../engine/attach.ts";
import type { Engine } from "../engine/engine.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import type { StateRoot } from "../engine/state-dir.ts";
import { isShellId } from "../engine/state-ids.ts";
import { findSwept } from "../engine/swept-ids.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { holdEventLoop } from "../support/event-loop-hold.ts";
import type { Events } from "../support/events.ts";
import { REMOVED_SHELL_IDS_MAX_COUNT, SHELL_IDS_LISTED_MAX_COUNT } from "../support/limits.ts";
import { Deadlines } from "./deadlines.ts";
import { endShells } from "./kill.ts";
import type { KillReport } from "./kill-report.ts";
import { endOf, killOf } from "./shell-events.ts";
import { ShellProcess, type ShellProcessOptions } from "./shell-process.ts";
import { Watchlist } from "./watchlist.ts";

export interface KnownShellsOptions {
  readonly engine: Engine;
  readonly root: StateRoot;
  readonly graceMs: number;
  readonly allowedRoots: readonly string[] | undefined;
  readonly events: Events;
}

type NewShell = Omit<ShellProcessOptions, "graceMs" | "allowedRoots" | "onEnd" | "onKill">;

export class KnownShells {
  readonly running = new Watchlist();
  readonly deadlines = new Deadlines();
  readonly #options: KnownShellsOptions;
  readonly #shells = new Map<string, ShellProcess>();
  readonly #own = new Set<ShellProcess>();
  /**
   * The scopes of removed shells by id, oldest first. undefined for a shell of another host that this process never
   * read.
   */
  readonly #removed = new Map<string, string | undefined>();

  constructor(options: KnownShellsOptions) {
    this.#options = options;
  }

  /** Returns the shell from memory, or reads it from disk. */
  get(id: string): ShellProcess | undefined {
    return this.#shells.get(id) ?? this.#attach(id);
  }

  /** Finds a shell by its id or an unambiguous prefix of it. */
  find(idOrPrefix: string): ShellProcess | undefined {
    const known = this.get(idOrPrefix);
    if (known || idOrPrefix === "") return known;
    const ids = this.#options.root
      .list()
      .filter((id) => id.startsWith(idOrPrefix) || id.startsWith(`shell_${idOrPrefix}`));
    const shells = ids.flatMap((id) => this.get(id) ?? []);
    if (shells.length <= 1) return shells[0];
    const more = shells.length - SHELL_IDS_LISTED_MAX_COUNT;
    const named = shells.slice(0, SHELL_IDS_LISTED_MAX_COUNT).map(({ id }) => id);
    const names = named.join(", ") + (more > 0 ? ` and ${more} more` : "");
    throw new NacreError(
      "invalid_input",
      `${idOrPrefix} is the beginning of several shell ids: ${names}. Write more characters of the id.`,
    );
  }

  /** Every shell on disk, oldest first. */
  all(): ShellProcess[] {
    const ids = this.#options.root.list();
    this.#forgetRemoved(new Set(ids));
    const shells = ids.flatMap((id) => this.get(id) ?? []);
    return shells.sort((a, b) => a.createdAt - b.createdAt);
  }

  /**
   * Forgets shells that other hosts have removed from disk: a process that lists shells for days must not keep them in
   * memory.
   */
  #forgetRemoved(onDisk: ReadonlySet<string>): void {
    for (const [id, shell] of this.#shells)
      if (!onDisk.has(id) && !this.isOwn(shell) && !shell.isRunning) this.drop(id);
  }

  /** The shells that this manager owns. */
  ownOf(scope?: string): ShellProcess[] {
    const all = [...this.#own];
    return scope === undefined ? all : all.filter((shell) => shell.scope === scope);
  }

  isOwn(shell: ShellProcess): boolean {
    return this.#own.has(shell);
  }

  /** Makes this manager responsible for the shell. */
  own(shell: ShellProcess): void {
    this.#own.add(shell);
    // Only the owner answers the terminal queries of a program. A host that takes a shell over answers only new
    // queries, because it cannot know which earlier queries were answered.
    if (shell.isRunning) shell.terminal?.answer(shell.started.attached ? "now" : "start");
  }

  /** Adds a shell that this manager has started. */
  addOwn(options: NewShell, onEnd?: () => void): ShellProcess {
    const shell = this.add(options, onEnd);
    this.own(shell);
    return shell;
  }

  /** Takes over a shell of a dead host process, with its deadline. */
  takeOver(started: StartedShell): ShellProcess {
    const shell = this.#shells.get(started.id) ?? this.#addStarted(started);
    this.own(shell);
    const { deadlineMs, startedUptimeMs } = started.meta;
    if (deadlineMs !== null && shell.isRunning)
      this.deadlines.set(shell, deadlineMs, startedUptimeMs + deadlineMs - uptime() * 1000);
    return shell;
  }

  add(options: NewShell, onEnd = () => {}): ShellProcess {
    const { graceMs, allowedRoots, events } = this.#options;
    const shell = new ShellProcess({
      ...options,
      graceMs,
      allowedRoots,
      onEnd: (ended) => {
        onEnd();
        this.#onEnd(ended);
      },
      onKill: (killed, by, report) => events.emit("kill", killOf(killed, by, report)),
    });
    this.#shells.set(shell.id, shell);
    this.running.add(shell);
    return shell;
  }

  /** Forgets a shell whose files are removed. Remembers only that its id existed. */
  drop(id: string): void {
    const shell = this.#shells.get(id);
    this.#removed.set(id, shell?.scope);
    const [oldest] = this.#removed.keys();
    if (this.#removed.size > REMOVED_SHELL_IDS_MAX_COUNT && oldest !== undefined)
      this.#removed.delete(oldest);
    if (!shell) return;
    this.#shells.delete(id);
    this.#own.delete(shell);
    this.#options.engine.release(shell.started);
  }

  /** True if drop() removed a shell with this id that the scope could see, or any process swept one. */
  isRemoved(id: string, scope: string): boolean {
    if (!this.#removed.has(id)) return findSwept(this.#options.root, id) === id;
    return (this.#removed.get(id) ?? scope) === scope;
  }

  /** Ends all these shells with one kill. */
  async endAll(shells: readonly ShellProcess[], by: string): Promise<ReadonlyMap<unknown, KillReport>> {
    if (shells.length === 0) return new Map();
    using _hold = holdEventLoop();
    const { engine, graceMs, events } = this.#options;
    const targets = shells.map((shell) => shell.toKill({ kind: "killed", detail: by }));
    const reports = await endShells(engine, targets, graceMs);
    for (const shell of shells) {
      const report = reports.get(shell.started);
      if (report) events.emit("kill", killOf(shell, by, report));
    }
    return reports;
  }

  #onEnd(shell: ShellProcess): void {
    this.running.delete(shell);
    this.deadlines.clear(shell);
    shell.terminal?.close();
    if (!this.isOwn(shell)) return;
    this.#options.events.emit("end", endOf(shell));
    // The shim is gone, so no process watches the command any more.
    if (shell.outcome?.kind === "lost") void this.endAll([shell], "the loss of its shim").catch(() => {});
  }

  #attach(id: string): ShellProcess | undefined {
    // Check the id, because it becomes part of a path.
    if (!isShellId(id)) return undefined;
    const started = readStartedShell(this.#options.root, id);
    if (!started) return undefined;
    const shell = this.#addStarted(started);
    shell.refresh();
    return shell;
  }

  #addStarted(started: StartedShell): ShellProcess {
    const command = attempt(() => readFileSync(started.files.command, "utf8")) ?? "";
    return this.add({ processes: this.#options.engine, started, command });
  }
}
