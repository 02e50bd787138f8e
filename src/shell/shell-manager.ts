// Starts shells, knows them by id and scope, ends and forgets them. What one shell does is in
// shell-process.ts; where it runs is the host's business.
import { uptime } from "node:os";
import { type BuiltEnvironment, buildEnvironment, type EnvironmentMode } from "../environment/environment.ts";
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
  SPOOL_QUOTA_BYTES,
  STREAM_CAP_BYTES,
  SWEEP_INTERVAL_MS,
  TIMER_MAX_MS,
} from "../support/limits.ts";
import { endShells, type KillReport } from "./kill.ts";
import { ShellProcess } from "./shell-process.ts";
import { checkWorkingDir } from "./working-dir.ts";

export interface ShellManagerOptions {
  /** Where shells are kept on disk. @default NACRE_HOME, else the XDG state directory */
  readonly stateRoot?: string;
  /** What commands inherit of this process's environment, and what is set for them. */
  readonly environment?: {
    /** @default "safe" */
    readonly mode?: EnvironmentMode;
    readonly include?: readonly string[];
    readonly exclude?: readonly string[];
    readonly set?: Readonly<Record<string, string>>;
  };
  /** An absolute path of bash. @default the first one in PATH */
  readonly shellPath?: string;
  /** Commands may only start inside these. @default anywhere */
  readonly allowedRoots?: readonly string[];
  /** Disk cap of one output stream. @default 2 GiB */
  readonly capBytes?: number;
  /** Live background shells per scope. @default 64 */
  readonly maxLiveShells?: number;
  /** Between TERM and KILL. @default 2000 */
  readonly killGraceMs?: number;
  /** Finished shells together. @default 10 GiB */
  readonly quotaBytes?: number;
  /** Finished shells are swept after this. @default 3600 */
  readonly finishedMaxAgeSeconds?: number;
  /** "best-effort" does without tags. @default "auto" */
  readonly containment?: "auto" | "best-effort";
  /** Shells kept ready. @default 2 */
  readonly poolSize?: number;
}

export interface CreateShellOptions {
  readonly command: string;
  /** Absolute. */
  readonly workingDir: string;
  /** On top of the manager's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Who owns it: callers of other scopes cannot see it. @default "default" */
  readonly scope?: string;
  readonly session?: string;
  /** Ends the shell with status `timeout` this long after its start. @default never */
  readonly timeoutMs?: number;
  /** "merged" keeps the true order of both streams, in stdout. @default "split" */
  readonly streams?: "split" | "merged";
  readonly capBytes?: number;
  /** Two starts with one key are one run. */
  readonly idempotencyKey?: string;
  /** Whether it counts against the limit on background shells. @default true */
  readonly background?: boolean;
}

const DEFAULT_SCOPE = "default";

export class ShellManager {
  static #shared: ShellManager | undefined;

  readonly root: SpoolRoot;
  readonly environment: BuiltEnvironment;
  readonly #options: ShellManagerOptions;
  readonly #host: Host;
  readonly #shells = new Map<string, ShellProcess>();
  readonly #running = new Set<ShellProcess>();
  readonly #backgroundCounts = new Map<string, number>();
  readonly #byKey = new Map<string, Promise<ShellProcess>>();
  readonly #deadlines = new Map<string, NodeJS.Timeout>();
  #liveness: NodeJS.Timeout | undefined;
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(options: ShellManagerOptions = {}) {
    this.#options = options;
    this.root = new SpoolRoot(options.stateRoot ?? defaultStateRoot());
    this.environment = buildEnvironment({ inherited: process.env, ...options.environment });
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
    created.catch(() => this.#byKey.delete(full));
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
    this.#shells.delete(shell.id);
    this.#host.release(shell.started);
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
    const { env: variables } = buildEnvironment({ inherited: {}, mode: "none", exclude: ["*"], set: env });
    const tooLarge = environmentTooLarge({ ...this.environment.env, ...variables });
    if (tooLarge) throw tooLarge;
    this.#sweepNowAndThen();
    const leave = options.background === false ? () => {} : this.#enter(scope);

    let shell: ShellProcess | undefined;
    try {
      const started = await this.#host.start({
        command,
        workingDir,
        variables,
        capBytes: options.capBytes ?? this.#options.capBytes ?? STREAM_CAP_BYTES,
        streams: options.streams ?? "split",
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

  /** Counted before the start, so that many at once cannot slip past the limit together. */
  #enter(scope: string): () => void {
    const max = this.#options.maxLiveShells ?? LIVE_SHELLS_PER_SCOPE_MAX_COUNT;
    const count = this.#backgroundCounts.get(scope) ?? 0;
    if (count >= max) {
      const live = this.listRunning({ scope }).map((shell) => `${shell.id} (${excerpt(shell.command)})`);
      throw new NacreError(
        "limit_reached",
        `${count} background shells are running, the most allowed. End one first: ${live.join(", ")}`,
      );
    }
    this.#backgroundCounts.set(scope, count + 1);
    return () => this.#backgroundCounts.set(scope, (this.#backgroundCounts.get(scope) ?? 1) - 1);
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

  /** A shim that was killed tells nobody: somebody has to look. Costs a signal 0 per shell. */
  #watchLiveness(): void {
    if (this.#liveness) return;
    this.#liveness = setInterval(() => {
      for (const shell of this.#running) if (!exists(shell.started.shimPid)) shell.refresh();
    }, LIVENESS_CHECK_MS);
    this.#liveness.unref();
  }

  #sweepNowAndThen(): void {
    if (monotonicMs() - this.#sweptMs < SWEEP_INTERVAL_MS) return;
    this.#sweptMs = monotonicMs();
    const maxAgeSeconds = this.#options.finishedMaxAgeSeconds ?? FINISHED_MAX_AGE_SECONDS;
    const swept = sweep(
      this.root,
      {
        nowMs: wallMs(),
        maxAgeMs: maxAgeSeconds * 1000,
        quotaBytes: this.#options.quotaBytes ?? SPOOL_QUOTA_BYTES,
      },
      (pid, startTime) => this.#host.isAlive(pid, startTime),
    );
    for (const id of swept) this.#shells.delete(id);
  }
}

function checkCommand(command: string): void {
  const offset = command.indexOf("\0");
  if (offset >= 0) {
    throw new NacreError(
      "invalid_input",
      `The command contains a NUL character at offset ${offset}; bash cannot read it.`,
    );
  }
}

function excerpt(command: string): string {
  const [line = ""] = command.split("\n", 1);
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
