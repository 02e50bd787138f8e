// Starts shells, knows them by id and scope, ends and forgets them. What one shell does is in
// shell-process.ts; where it runs is the host's business.
import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { type BuiltEnvironment, buildEnvironment } from "../environment/environment.ts";
import { environmentTooLarge } from "../environment/environment-size.ts";
import type { Containment, Host, StartedShell } from "../hosts/host.ts";
import { LocalHost } from "../hosts/local.ts";
import { defaultStateRoot, SpoolRoot } from "../spool/layout.ts";
import { giveUp } from "../spool/lease.ts";
import { removeShell, sweep } from "../spool/sweep.ts";
import { monotonicMs, wallMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { Events } from "../support/events.ts";
import {
  DURABLE_DEADLINE_MS,
  FINISHED_MAX_AGE_SECONDS,
  KILL_GRACE_MS,
  LIVE_SHELLS_PER_SCOPE_MAX_COUNT,
  SPOOL_QUOTA_BYTES,
  STREAM_CAP_BYTES,
  SWEEP_DELAY_MS,
  SWEEP_INTERVAL_MS,
} from "../support/limits.ts";
import { adoptShells } from "./adopt.ts";
import { checkCommand, checkSettable } from "./check-start.ts";
import { Confiner } from "./confiner.ts";
import { Deadlines } from "./deadlines.ts";
import { endShells, type KillReport } from "./kill.ts";
import type { CreateShellOptions, ShellManagerOptions } from "./manager-options.ts";
import { Places } from "./places.ts";
import { goesOn, recordOf, remainsOf } from "./published.ts";
import type { Session } from "./session.ts";
import type { CommandRemains, PublishedBash, SessionOptions } from "./session-options.ts";
import { SessionRegistry } from "./session-registry.ts";
import { endOf, killOf, startOf } from "./shell-events.ts";
import { ShellProcess, type ShellProcessOptions } from "./shell-process.ts";
import { Watchlist } from "./watchlist.ts";
import { checkWorkingDir } from "./working-dir.ts";

const DEFAULT_SCOPE = "default";

export class ShellManager {
  static #shared: ShellManager | undefined;

  readonly root: SpoolRoot;
  readonly environment: BuiltEnvironment;
  readonly #options: ShellManagerOptions;
  readonly #events: Events;
  readonly #host: Host;
  readonly #shells = new Map<string, ShellProcess>();
  /** Started or taken over here; the others belong to hosts that live, or have ended. */
  readonly #own = new Set<ShellProcess>();
  readonly #running = new Watchlist();
  readonly #places: Places;
  readonly #byKey = new Map<string, Promise<ShellProcess>>();
  /** The key a shell was started with, by its id. */
  readonly #keys = new Map<string, string>();
  readonly #deadlines: Deadlines;
  readonly #sessions: SessionRegistry;
  readonly #confiner: Confiner;
  #sweptMs = Number.NEGATIVE_INFINITY;

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
    this.#sessions = new SessionRegistry(
      {
        host: this.#host,
        events: this.#events,
        environment: this.environment,
        confiner: this.#confiner,
        capBytes: options.capBytes ?? STREAM_CAP_BYTES,
        killGraceMs: options.killGraceMs ?? KILL_GRACE_MS,
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
      const shell = this.#shells.get(started.id) ?? this.#remember(started, readCommand(started), () => {});
      const { deadlineMs, startedUptimeMs } = started.meta;
      if (deadlineMs !== null && shell.isRunning) {
        this.#deadlines.set(shell, deadlineMs, startedUptimeMs + deadlineMs - uptime() * 1000);
      }
      this.#own.add(shell);
      return shell;
    });
  }

  /** Any shell on disk by its id or an unambiguous beginning of it, whichever host and scope it is of. */
  find(idOrPrefix: string): ShellProcess | undefined {
    const known = this.#shells.get(idOrPrefix) ?? this.#attach(idOrPrefix);
    if (known || idOrPrefix === "") return known;
    const ids = this.root
      .list()
      .filter((id) => id.startsWith(idOrPrefix) || id.startsWith(`shell_${idOrPrefix}`));
    const shells = ids.flatMap((id) => this.#shells.get(id) ?? this.#attach(id) ?? []);
    if (shells.length <= 1) return shells[0];
    const names = shells.map(({ id }) => id).join(", ");
    throw new NacreError(
      "invalid_input",
      `${idOrPrefix} is the beginning of several shells: ${names}. Write more of it.`,
    );
  }

  /** Every shell on disk, also those of other hosts, oldest first. */
  findAll(): ShellProcess[] {
    const shells = this.root.list().flatMap((id) => this.#shells.get(id) ?? this.#attach(id) ?? []);
    return shells.sort((a, b) => a.createdAt - b.createdAt);
  }

  async createShell(options: CreateShellOptions): Promise<ShellProcess> {
    const { idempotencyKey: key, scope = DEFAULT_SCOPE } = options;
    if (key === undefined) return await this.#create(options, scope);
    const full = `${scope}\0${key}`;
    const known = this.#byKey.get(full);
    if (known) return await known;
    const created = this.#create(options, scope);
    this.#byKey.set(full, created);
    // A start that failed is no run: the key may be used again.
    created.then(
      (shell) => this.#keys.set(shell.id, full),
      () => this.#byKey.delete(full),
    );
    return await created;
  }

  /** Also one that another host has started. undefined also for a shell of another scope. */
  getShell(id: string, { scope }: { readonly scope?: string } = {}): ShellProcess | undefined {
    const shell = this.#shells.get(id) ?? this.#attach(id);
    return shell && (scope === undefined || shell.scope === scope) ? shell : undefined;
  }

  /** Those this manager has started or taken over. */
  listShells({ scope }: { readonly scope?: string } = {}): ShellProcess[] {
    const all = [...this.#own];
    return scope === undefined ? all : all.filter((shell) => shell.scope === scope);
  }

  listRunning(filter: { readonly scope?: string } = {}): ShellProcess[] {
    return this.listShells(filter).filter((shell) => shell.isRunning);
  }

  /** Forgets shells that ended longer ago than this, with their output. Returns how many. */
  cleanupCompleted({
    maxAgeSeconds = FINISHED_MAX_AGE_SECONDS,
  }: {
    readonly maxAgeSeconds?: number;
  } = {}): number {
    const before = wallMs() - maxAgeSeconds * 1000;
    const old = this.listShells().filter((shell) => {
      const { completedAt } = shell;
      return completedAt !== null && completedAt < before;
    });
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
    const ending = this.#running.list().filter((shell) => this.#own.has(shell) && !shell.durable);
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
    const { command, workingDir, env = {}, durable = false } = options;
    const timeoutMs = options.timeoutMs ?? (durable ? DURABLE_DEADLINE_MS : undefined);
    checkCommand(command);
    checkWorkingDir(workingDir, this.#options.allowedRoots);
    checkSettable(env);
    const { env: variables } = buildEnvironment({ inherited: {}, mode: "none", exclude: ["*"], set: env });
    const tooLarge = environmentTooLarge({ ...this.environment.env, ...variables });
    if (tooLarge) throw tooLarge;
    const confined = await this.#confiner.forScript({ ...options, workspace: options.workspace });
    this.#sweepNowAndThen();
    const leave = options.background === false ? () => {} : this.#places.take(scope);

    let shell: ShellProcess | undefined;
    try {
      const started = await this.#host.start({
        command,
        workingDir,
        variables,
        stdin: options.stdin,
        capBytes: options.capBytes ?? this.#options.capBytes ?? STREAM_CAP_BYTES,
        streams: options.streams ?? "split",
        trailer: options.trailer ?? false,
        begin: confined.begin,
        meta: (id) => ({
          version: 1,
          id,
          workingDir,
          scope,
          session: options.session ?? null,
          createdAt: wallMs(),
          startedUptimeMs: Math.round(uptime() * 1000),
          deadlineMs: timeoutMs ?? null,
          durable,
          host: this.#host.identity,
          streams: options.streams ?? "split",
          capBytes: options.capBytes ?? this.#options.capBytes ?? STREAM_CAP_BYTES,
          ...confined.meta(),
        }),
        onExit: (record) => shell?.conclude(record),
      });
      shell = this.#remember(started, command, leave);
    } catch (error) {
      leave();
      throw error;
    }
    this.#own.add(shell);
    this.#events.emit("start", startOf(shell));
    if (timeoutMs !== undefined) this.#deadlines.set(shell, timeoutMs, timeoutMs);
    return shell;
  }

  #publish(part: PublishedBash): ShellProcess {
    const shell = this.#know(goesOn(this.#host, part));
    this.#own.add(shell);
    this.#events.emit("start", startOf(shell));
    return shell;
  }

  #publishRemains(remains: CommandRemains): ShellProcess {
    const shell = this.#know(remainsOf(this.#host, remains));
    shell.conclude(recordOf(remains));
    this.#own.add(shell);
    return shell;
  }

  #remember(started: StartedShell, command: string, onEnd: () => void): ShellProcess {
    return this.#know({ host: this.#host, started, command }, onEnd);
  }

  #know(options: Omit<ShellProcessOptions, "graceMs" | "onEnd">, onEnd = () => {}): ShellProcess {
    const shell = new ShellProcess({
      ...options,
      graceMs: this.#options.killGraceMs ?? KILL_GRACE_MS,
      onEnd: (ended) => {
        onEnd();
        this.#onEnd(ended);
      },
      onKill: (killed, by, report) => this.#events.emit("kill", killOf(killed, by, report)),
    });
    this.#shells.set(shell.id, shell);
    this.#running.add(shell);
    return shell;
  }

  /** A shell that is on disk and not known here yet. */
  #attach(id: string): ShellProcess | undefined {
    // An id comes from outside and becomes a path.
    if (!/^shell_[0-9a-f]{8}$/.test(id)) return undefined;
    const started = this.#host.attach(id);
    if (!started) return undefined;
    const shell = this.#remember(started, readCommand(started), () => {});
    shell.refresh();
    return shell;
  }

  #onEnd(shell: ShellProcess): void {
    this.#running.delete(shell);
    this.#deadlines.clear(shell);
    if (this.#own.has(shell)) this.#events.emit("end", endOf(shell));
    // Its shim is gone, so nobody watches the command any more.
    if (shell.outcome?.kind === "lost" && this.#own.has(shell))
      void this.#endAll([shell], "the loss of its shim").catch(() => {});
  }

  async #endAll(shells: readonly ShellProcess[], by: string): Promise<ReadonlyMap<unknown, KillReport>> {
    if (shells.length === 0) return new Map();
    const release = this.#host.hold();
    try {
      const targets = shells.map((shell) => shell.toKill({ kind: "killed", detail: by }));
      const reports = await endShells(this.#host, targets, this.#options.killGraceMs ?? KILL_GRACE_MS);
      for (const shell of shells) {
        const report = reports.get(shell.started);
        if (report) this.#events.emit("kill", killOf(shell, by, report));
      }
      return reports;
    } finally {
      release();
    }
  }

  /** Off the path of the call that happens to be the one. */
  #sweepNowAndThen(): void {
    if (monotonicMs() - this.#sweptMs < SWEEP_INTERVAL_MS) return;
    this.#sweptMs = monotonicMs();
    setTimeout(() => void this.#sweep(), SWEEP_DELAY_MS).unref();
  }

  async #sweep(): Promise<void> {
    const { finishedMaxAgeSeconds = FINISHED_MAX_AGE_SECONDS, quotaBytes = SPOOL_QUOTA_BYTES } =
      this.#options;
    const limits = { nowMs: wallMs(), maxAgeMs: finishedMaxAgeSeconds * 1000, quotaBytes };
    const swept = await sweep(this.root, limits, (identity) => this.#host.presence(identity));
    for (const id of swept) this.#drop(id);
    // What commands of sessions left running is not on disk under its own id.
    this.cleanupCompleted({ maxAgeSeconds: finishedMaxAgeSeconds });
  }

  #drop(id: string): void {
    const shell = this.#shells.get(id);
    if (!shell) return;
    this.#shells.delete(id);
    this.#own.delete(shell);
    this.#host.release(shell.started);
    const key = this.#keys.get(id);
    if (key !== undefined) this.#byKey.delete(key);
    this.#keys.delete(id);
  }
}

function readCommand({ files }: StartedShell): string {
  try {
    return readFileSync(files.command, "utf8");
  } catch {
    return "";
  }
}
