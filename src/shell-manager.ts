// Starts shells, knows them by id and scope, ends and forgets them. What one shell does is in
// shell-process.ts; where it runs is the host's business.
import { uptime } from "node:os";
import type { Containment, Host } from "./engine/host.ts";
import { defaultStateRoot, SpoolRoot } from "./engine/layout.ts";
import { giveUp } from "./engine/lease.ts";
import { LocalHost } from "./engine/local.ts";
import { removeShell } from "./engine/sweep.ts";
import { type BuiltEnvironment, buildEnvironment } from "./environment/environment.ts";
import { bashRecord, goesOn, remainsOf } from "./session/published.ts";
import type { Session } from "./session/session.ts";
import type { CommandRemains, PublishedBash, SessionOptions } from "./session/session-options.ts";
import { SessionRegistry } from "./session/session-registry.ts";
import { adoptShells } from "./shell/adopt.ts";
import { Confiner } from "./shell/confiner.ts";
import { Deadlines } from "./shell/deadlines.ts";
import { endShells } from "./shell/kill.ts";
import type { KillReport } from "./shell/kill-report.ts";
import { KnownShells } from "./shell/known-shells.ts";
import type { CreateShellOptions, ShellManagerOptions } from "./shell/manager-options.ts";
import { Places } from "./shell/places.ts";
import { endOf, killOf, startOf } from "./shell/shell-events.ts";
import type { ShellProcess } from "./shell/shell-process.ts";
import { StartKeys } from "./shell/start-keys.ts";
import { deadlineOf, planStart } from "./shell/start-plan.ts";
import { Sweeper } from "./shell/sweeper.ts";
import { Watchlist } from "./shell/watchlist.ts";
import { wallMs } from "./support/clock.ts";
import { NacreError } from "./support/errors.ts";
import { Events } from "./support/events.ts";
import {
  FINISHED_MAX_AGE_SECONDS,
  KILL_GRACE_MS,
  LIVE_SHELLS_PER_SCOPE_MAX_COUNT,
  SPOOL_QUOTA_BYTES,
  STREAM_CAP_BYTES,
} from "./support/limits.ts";

const DEFAULT_SCOPE = "default";

export class ShellManager {
  static #shared: ShellManager | undefined;

  readonly root: SpoolRoot;
  readonly environment: BuiltEnvironment;
  readonly #options: ShellManagerOptions;
  readonly #events: Events;
  readonly #host: Host;
  readonly #shells: KnownShells;
  readonly #running = new Watchlist();
  readonly #places: Places;
  readonly #keys = new StartKeys();
  readonly #deadlines: Deadlines;
  readonly #sessions: SessionRegistry;
  readonly #confiner: Confiner;
  readonly #sweeper: Sweeper;

  constructor(options: ShellManagerOptions = {}) {
    this.#options = options;
    this.#events = options.events ?? new Events();
    this.root = new SpoolRoot(options.stateRoot ?? defaultStateRoot());
    this.environment = buildEnvironment({ inherited: process.env, ...options.environment });
    this.#places = new Places(options.maxLiveShells ?? LIVE_SHELLS_PER_SCOPE_MAX_COUNT, (scope) =>
      this.listRunning({ scope }),
    );
    this.#deadlines = new Deadlines();
    this.#confiner = new Confiner(options, this.root);
    this.#host = new LocalHost({
      root: this.root,
      environment: this.environment.env,
      shellPath: options.shellPath,
      poolSize: options.poolSize,
      capBytes: options.capBytes,
      containment: options.containment,
    });
    this.#shells = new KnownShells({
      host: this.#host,
      root: this.root,
      graceMs: this.#graceMs,
      events: this.#events,
      onKnown: (shell) => this.#running.add(shell),
      onEnd: (shell) => this.#onEnd(shell),
    });
    this.#sweeper = new Sweeper({
      root: this.root,
      host: this.#host,
      maxAgeSeconds: options.finishedMaxAgeSeconds ?? FINISHED_MAX_AGE_SECONDS,
      quotaBytes: options.quotaBytes ?? SPOOL_QUOTA_BYTES,
      onSwept: (ids) => this.#onSwept(ids),
    });
    this.#sessions = new SessionRegistry(
      {
        host: this.#host,
        events: this.#events,
        environment: this.environment,
        confiner: this.#confiner,
        capBytes: options.capBytes ?? STREAM_CAP_BYTES,
        killGraceMs: this.#graceMs,
        allowedRoots: options.allowedRoots,
        sanitise: (inherited) => buildEnvironment({ ...options.environment, inherited }),
        createShell: (shell) => this.createShell(shell),
        forget: (shell) => this.forget(shell),
        watch: (bash) => this.#running.add(bash),
        unwatch: (bash) => this.#running.delete(bash),
        publish: (part) => this.#publish(part),
        publishRemains: (remains) => this.#publishRemains(remains),
      },
      options.maxSessions,
    );
  }

  /** The process-wide one. */
  static shared(): ShellManager {
    ShellManager.#shared ??= new ShellManager();
    return ShellManager.#shared;
  }

  /** Ends the shells of the process-wide one and forgets it. */
  static async reset(): Promise<void> {
    const shared = ShellManager.#shared;
    ShellManager.#shared = undefined;
    await shared?.dispose();
  }

  /** How surely everything a shell starts can be found; known after the first start. */
  get containment(): Containment {
    return this.#host.containment;
  }

  /**
   * Starts the keeper while this process is small, so that the first command need not wait for it, and looks
   * after the shells of hosts that are dead.
   */
  async warmUp(): Promise<void> {
    await this.#host.ready();
    await this.#confiner.warmUp();
    await this.adopt();
  }

  /** Takes over durable shells whose host is dead, and ends what dead hosts left behind. Returns those taken over. */
  async adopt(): Promise<ShellProcess[]> {
    const { adopted } = await adoptShells(this.#host, this.root);
    return adopted.map((started) => {
      const shell = this.#shells.takeOver(started);
      const { deadlineMs, startedUptimeMs } = started.meta;
      if (deadlineMs !== null && shell.isRunning) {
        this.#deadlines.set(shell, deadlineMs, startedUptimeMs + deadlineMs - uptime() * 1000);
      }
      return shell;
    });
  }

  /** Ends the waiting shells of dead hosts, and removes what belongs to no shell. Takes nothing over. */
  tidyUp(): void {
    this.#host.tidyUp();
  }

  /** Any shell on disk by its id or an unambiguous beginning of it, whichever host and scope it is of. */
  find(idOrPrefix: string): ShellProcess | undefined {
    return this.#shells.find(idOrPrefix);
  }

  /** Every shell on disk, also those of other hosts, oldest first. */
  findAll(): ShellProcess[] {
    return this.#shells.all();
  }

  async createShell(options: CreateShellOptions): Promise<ShellProcess> {
    const { idempotencyKey: key, scope = DEFAULT_SCOPE } = options;
    const create = () => this.#create(options, scope);
    return await (key === undefined ? create() : this.#keys.run(scope, key, create));
  }

  /** Also one that another host has started. undefined also for a shell of another scope. */
  getShell(id: string, { scope }: { readonly scope?: string } = {}): ShellProcess | undefined {
    const shell = this.#shells.get(id);
    return shell && (scope === undefined || shell.scope === scope) ? shell : undefined;
  }

  /** Those this manager has started or taken over. */
  listShells({ scope }: { readonly scope?: string } = {}): ShellProcess[] {
    return this.#shells.ownOf(scope);
  }

  listRunning(filter: { readonly scope?: string } = {}): ShellProcess[] {
    return this.listShells(filter).filter((shell) => shell.isRunning);
  }

  /** Forgets shells that ended longer ago than this by the clock, with their output. Returns how many. */
  cleanupCompleted({
    maxAgeSeconds = FINISHED_MAX_AGE_SECONDS,
  }: {
    readonly maxAgeSeconds?: number;
  } = {}): number {
    const before = wallMs() - maxAgeSeconds * 1000;
    return this.#forgetAll(({ completedAt }) => completedAt !== null && completedAt < before);
  }

  #forgetAll(isOld: (shell: ShellProcess) => boolean): number {
    const old = this.listShells().filter(isOld);
    for (const shell of old) this.forget(shell);
    return old.length;
  }

  /** Drops an ended shell and its spool. What it left running still ends with this manager. */
  forget(shell: ShellProcess): void {
    if (shell.isRunning) throw new NacreError("invalid_input", `${shell.id} is still running; end it first.`);
    this.#drop(shell.id);
    removeShell(this.root, shell.id);
  }

  /** Ends every running shell of a scope (or of all) and returns how many there were. */
  async killAll({
    scope,
    by = "killAll()",
  }: {
    readonly scope?: string;
    readonly by?: string;
  } = {}): Promise<number> {
    const reports = await this.#endAll(
      scope === undefined ? this.listRunning() : this.listRunning({ scope }),
      by,
    );
    return reports.size;
  }

  /** The session of this id in its scope: a bash whose state persists. Made at its first use. */
  session(id: string, options: SessionOptions): Session {
    return this.#sessions.get(id, options);
  }

  /** The session, if there is one. */
  findSession(id: string, filter: { readonly scope?: string } = {}): Session | undefined {
    return this.#sessions.find(id, filter);
  }

  listSessions(filter: { readonly scope?: string } = {}): Session[] {
    return this.#sessions.list(filter);
  }

  /** Ends everything this manager has started but durable shells, leftovers included. Records and output stay. */
  async dispose(): Promise<void> {
    const ending = this.#running.list().filter((shell) => this.#shells.isOwn(shell) && !shell.durable);
    const waiting = ending.map((shell) => shell.look({ exit: true }, KILL_GRACE_MS));
    this.#deadlines.clearAll();
    this.#running.stop();
    // Ended ones, too: they may have left something running.
    const shells = this.listShells().filter((shell) => !(shell.durable && shell.isRunning));
    const by = "the end of its host";
    await Promise.all([this.#endAll(shells, by), this.#sessions.closeAll(by)]);
    await this.#host.dispose();
    this.#confiner.tidy();
    // This process may live on without us; whoever comes next may have them.
    for (const { started, durable } of this.listRunning()) {
      if (durable) giveUp(started.files, started.meta, this.#host.identity);
    }
    await Promise.all(waiting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  async #create(options: CreateShellOptions, scope: string): Promise<ShellProcess> {
    const plan = await planStart(
      { ...options, scope },
      {
        host: this.#host,
        confiner: this.#confiner,
        allowedRoots: this.#options.allowedRoots,
        environment: this.environment.env,
        capBytes: this.#options.capBytes ?? STREAM_CAP_BYTES,
      },
    );
    this.#sweeper.nowAndThen();
    const leave = options.background === false ? () => {} : this.#places.take(scope);
    let shell: ShellProcess | undefined;
    try {
      const started = await this.#host.start({ ...plan, onExit: (record) => shell?.conclude(record) });
      shell = this.#shells.addOwn({ host: this.#host, started, command: options.command }, leave);
    } catch (error) {
      leave();
      throw error;
    }
    this.#events.emit("start", startOf(shell));
    const deadlineMs = deadlineOf(options);
    if (deadlineMs !== undefined) this.#deadlines.set(shell, deadlineMs, deadlineMs);
    return shell;
  }

  #publish(part: PublishedBash): ShellProcess {
    const shell = this.#shells.addOwn(goesOn(this.#host, part));
    this.#events.emit("start", startOf(shell));
    const { deadline } = part;
    if (deadline) this.#deadlines.set(shell, deadline.timeoutMs, deadline.leftMs);
    return shell;
  }

  #publishRemains(remains: CommandRemains): ShellProcess {
    const shell = this.#shells.add(remainsOf(this.#host, remains));
    // Before it is one of ours: that its command has ended was told as the session's.
    shell.conclude(bashRecord(remains));
    this.#shells.own(shell);
    return shell;
  }

  #onEnd(shell: ShellProcess): void {
    this.#running.delete(shell);
    this.#deadlines.clear(shell);
    if (this.#shells.isOwn(shell)) this.#events.emit("end", endOf(shell));
    // Its shim is gone, so nobody watches the command any more.
    if (shell.outcome?.kind === "lost" && this.#shells.isOwn(shell))
      void this.#endAll([shell], "the loss of its shim").catch(() => {});
  }

  async #endAll(shells: readonly ShellProcess[], by: string): Promise<ReadonlyMap<unknown, KillReport>> {
    if (shells.length === 0) return new Map();
    const release = this.#host.hold();
    try {
      const targets = shells.map((shell) => shell.toKill({ kind: "killed", detail: by }));
      const reports = await endShells(this.#host, targets, this.#graceMs);
      for (const shell of shells) {
        const report = reports.get(shell.started);
        if (report) this.#events.emit("kill", killOf(shell, by, report));
      }
      return reports;
    } finally {
      release();
    }
  }

  #onSwept(ids: readonly string[]): void {
    for (const id of ids) this.#drop(id);
    // What commands of sessions left running is not on disk under its own id. Not by the clock, which may have been set.
    const maxAgeMs = (this.#options.finishedMaxAgeSeconds ?? FINISHED_MAX_AGE_SECONDS) * 1000;
    this.#forgetAll(({ endedAgoMs }) => endedAgoMs !== null && endedAgoMs > maxAgeMs);
  }

  #drop(id: string): void {
    this.#shells.drop(id);
    this.#keys.forget(id);
  }

  get #graceMs(): number {
    return this.#options.killGraceMs ?? KILL_GRACE_MS;
  }
}
