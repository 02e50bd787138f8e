// Starts shells, knows them by id and scope, ends and forgets them. What one shell does is in
// shell-process.ts; where it runs is the host's business.
import { uptime } from "node:os";
import { type BuiltEnvironment, buildEnvironment } from "../environment/environment.ts";
import { environmentTooLarge } from "../environment/environment-size.ts";
import type { Containment, Host } from "../hosts/host.ts";
import { LocalHost } from "../hosts/local.ts";
import { defaultStateRoot, SpoolRoot } from "../spool/layout.ts";
import { removeShell, sweep } from "../spool/sweep.ts";
import { monotonicMs, wallMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import {
  FINISHED_MAX_AGE_SECONDS,
  KILL_GRACE_MS,
  LIVE_SHELLS_PER_SCOPE_MAX_COUNT,
  LIVENESS_CHECK_MS,
  LIVENESS_LOOKS_COUNT,
  SPOOL_QUOTA_BYTES,
  STREAM_CAP_BYTES,
  SWEEP_DELAY_MS,
  SWEEP_INTERVAL_MS,
  TIMER_MAX_MS,
} from "../support/limits.ts";
import { checkCommand, checkSettable } from "./check-start.ts";
import { endShells, type KillReport } from "./kill.ts";
import type { CreateShellOptions, ShellManagerOptions } from "./manager-options.ts";
import { Places } from "./places.ts";
import { ShellProcess } from "./shell-process.ts";
import { checkWorkingDir } from "./working-dir.ts";

const DEFAULT_SCOPE = "default";

export class ShellManager {
  static #shared: ShellManager | undefined;

  readonly root: SpoolRoot;
  readonly environment: BuiltEnvironment;
  readonly #options: ShellManagerOptions;
  readonly #host: Host;
  readonly #shells = new Map<string, ShellProcess>();
  readonly #running = new Set<ShellProcess>();
  readonly #places: Places;
  readonly #byKey = new Map<string, Promise<ShellProcess>>();
  /** The key a shell was started with, by its id. */
  readonly #keys = new Map<string, string>();
  readonly #deadlines = new Map<string, NodeJS.Timeout>();
  #liveness: NodeJS.Timeout | undefined;
  #livenessTurn = 0;
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(options: ShellManagerOptions = {}) {
    this.#options = options;
    this.root = new SpoolRoot(options.stateRoot ?? defaultStateRoot());
    this.environment = buildEnvironment({ inherited: process.env, ...options.environment });
    this.#places = new Places(options.maxLiveShells ?? LIVE_SHELLS_PER_SCOPE_MAX_COUNT, (scope) =>
      this.listRunning({ scope }),
    );
    this.#host = new LocalHost({
      root: this.root,
      environment: this.environment.env,
      shellPath: options.shellPath,
      poolSize: options.poolSize,
      capBytes: options.capBytes,
      containment: options.containment,
    });
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

  /** Starts the keeper while this process is small, so that the first command need not wait for it. */
  async warmUp(): Promise<void> {
    await this.#host.ready();
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

  /** undefined also for a shell of another scope. Without a scope: whosever it is. */
  getShell(id: string, { scope }: { readonly scope?: string } = {}): ShellProcess | undefined {
    const shell = this.#shells.get(id);
    return shell && (scope === undefined || shell.scope === scope) ? shell : undefined;
  }

  listShells({ scope }: { readonly scope?: string } = {}): ShellProcess[] {
    const all = [...this.#shells.values()];
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

  /** Ends everything this manager has started, leftovers included. Records and output stay on disk. */
  async dispose(): Promise<void> {
    const waiting = [...this.#running].map((shell) => shell.look({ exit: true }, KILL_GRACE_MS));
    for (const timer of this.#deadlines.values()) clearTimeout(timer);
    clearInterval(this.#liveness);
    // Ended ones, too: they may have left something running.
    await this.#endAll(this.listShells(), "the end of its host");
    await this.#host.dispose();
    await Promise.all(waiting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  async #create(options: CreateShellOptions, scope: string): Promise<ShellProcess> {
    const { command, workingDir, env = {}, timeoutMs } = options;
    checkCommand(command);
    checkWorkingDir(workingDir, this.#options.allowedRoots);
    checkSettable(env);
    const { env: variables } = buildEnvironment({ inherited: {}, mode: "none", exclude: ["*"], set: env });
    const tooLarge = environmentTooLarge({ ...this.environment.env, ...variables });
    if (tooLarge) throw tooLarge;
    this.#sweepNowAndThen();
    const leave = options.background === false ? () => {} : this.#places.take(scope);

    let shell: ShellProcess | undefined;
    try {
      const started = await this.#host.start({
        command,
        workingDir,
        variables,
        capBytes: options.capBytes ?? this.#options.capBytes ?? STREAM_CAP_BYTES,
        streams: options.streams ?? "split",
        trailer: options.trailer ?? false,
        meta: (id) => ({
          version: 1,
          id,
          workingDir,
          scope,
          session: options.session ?? null,
          createdAt: wallMs(),
          startedUptimeMs: Math.round(uptime() * 1000),
          deadlineMs: timeoutMs ?? null,
          durable: false,
          streams: options.streams ?? "split",
          capBytes: options.capBytes ?? this.#options.capBytes ?? STREAM_CAP_BYTES,
        }),
        onExit: (record) => shell?.conclude(record),
      });
      shell = new ShellProcess({
        host: this.#host,
        started,
        command,
        onEnd: (ended) => {
          leave();
          this.#onEnd(ended);
        },
      });
    } catch (error) {
      leave();
      throw error;
    }
    this.#shells.set(shell.id, shell);
    this.#running.add(shell);
    this.#watchLiveness();
    if (timeoutMs !== undefined) this.#setDeadline(shell, timeoutMs);
    return shell;
  }

  #onEnd(shell: ShellProcess): void {
    this.#running.delete(shell);
    clearTimeout(this.#deadlines.get(shell.id));
    this.#deadlines.delete(shell.id);
    if (this.#running.size === 0) {
      clearInterval(this.#liveness);
      this.#liveness = undefined;
    }
    // Its shim is gone, so nobody watches the command any more.
    if (shell.outcome?.kind === "lost") void this.#endAll([shell], "the loss of its shim").catch(() => {});
  }

  async #endAll(shells: readonly ShellProcess[], by: string): Promise<ReadonlyMap<unknown, KillReport>> {
    if (shells.length === 0) return new Map();
    const release = this.#host.hold();
    try {
      const targets = shells.map((shell) => shell.toKill({ kind: "killed", detail: by }));
      return await endShells(this.#host, targets, this.#options.killGraceMs ?? KILL_GRACE_MS);
    } finally {
      release();
    }
  }

  #setDeadline(shell: ShellProcess, timeoutMs: number): void {
    const timer = setTimeout(
      () =>
        void shell.end(
          { kind: "timeout", detail: String(timeoutMs) },
          this.#options.killGraceMs ?? KILL_GRACE_MS,
        ),
      Math.min(timeoutMs, TIMER_MAX_MS),
    );
    timer.unref();
    this.#deadlines.set(shell.id, timer);
  }

  /**
   * A shim that was killed tells nobody: somebody has to look. A signal 0 costs next to nothing, but a
   * shim that nobody has reaped answers it, too; so a few are looked at closely each time, in turn.
   */
  #watchLiveness(): void {
    if (this.#liveness) return;
    this.#liveness = setInterval(() => {
      const shells = [...this.#running];
      const first = this.#livenessTurn++ * LIVENESS_LOOKS_COUNT;
      for (const [index, shell] of shells.entries()) {
        const turn = (((index - first) % shells.length) + shells.length) % shells.length;
        if (turn < LIVENESS_LOOKS_COUNT || !exists(shell.started.shimPid)) shell.refresh();
      }
    }, LIVENESS_CHECK_MS);
    this.#liveness.unref();
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
    const swept = await sweep(this.root, limits, (pid, startTime) => this.#host.isAlive(pid, startTime));
    for (const id of swept) this.#drop(id);
  }

  #drop(id: string): void {
    const shell = this.#shells.get(id);
    if (!shell) return;
    this.#shells.delete(id);
    this.#host.release(shell.started);
    const key = this.#keys.get(id);
    if (key !== undefined) this.#byKey.delete(key);
    this.#keys.delete(id);
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
