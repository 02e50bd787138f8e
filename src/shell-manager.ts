// Starts shells and sessions, finds them by id and scope, ends and forgets them.
//
//   createShell -> planStart (shell/start-plan.ts)  checks the command, directory and environment
//               -> ShellQuota.take                  limit on background shells
//               -> Engine.start                     a slot, its files, its job
//               -> KnownShells.addOwn               watched from now on, with a deadline
import { type Containment, Engine } from "./engine/engine.ts";
import { defaultStateRoot, StateRoot } from "./engine/state-dir.ts";
import { removeShell } from "./engine/sweep.ts";
import { type BuiltEnvironment, buildEnvironment } from "./environment/environment.ts";
import type { PreviewStore } from "./preview/preview-store.ts";
import { openPreviews } from "./preview/recover.ts";
import { bashRecord, detachedShell, leftoverShell } from "./session/detached-bash.ts";
import type { Session } from "./session/session.ts";
import type { DetachedBash, LeftoverCommand, SessionOptions } from "./session/session-options.ts";
import { SessionRegistry } from "./session/session-registry.ts";
import { removeAbandonedKeepers } from "./shell/abandoned-keepers.ts";
import { adoptShells } from "./shell/adopt.ts";
import { Confiner } from "./shell/confiner.ts";
import { disposeShells } from "./shell/dispose-shells.ts";
import { FinishedShells } from "./shell/finished-shells.ts";
import { KnownShells } from "./shell/known-shells.ts";
import type { CreateShellOptions, ScopeFilter, ShellManagerOptions } from "./shell/manager-options.ts";
import { startOf } from "./shell/shell-events.ts";
import type { ShellProcess } from "./shell/shell-process.ts";
import { ShellQuota } from "./shell/shell-quota.ts";
import { StartKeys } from "./shell/start-keys.ts";
import { deadlineOf, planStart } from "./shell/start-plan.ts";
import { Sweeper } from "./shell/sweeper.ts";
import { UserEnvironment } from "./shell/user-environment.ts";
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
import { checkOptions } from "./support/option-checks.ts";

export class ShellManager {
  static #shared: ShellManager | undefined;

  readonly root: StateRoot;
  readonly #environment: BuiltEnvironment;
  /** @internal */ readonly user: UserEnvironment | undefined;
  readonly allowedRoots: readonly string[] | undefined;
  /** Time between SIGTERM and SIGKILL when a shell is killed. */
  readonly killGraceMs: number;
  readonly #options: ShellManagerOptions;
  readonly #capBytes: number;
  readonly #events: Events;
  /** @internal */ readonly engine: Engine;
  readonly #shells: KnownShells;
  readonly #quota: ShellQuota;
  readonly #keys = new StartKeys();
  readonly sessions: SessionRegistry;
  /** @internal */ readonly finished: FinishedShells;
  /** @internal */ readonly previews: PreviewStore;
  /** @internal */ readonly confiner: Confiner;
  readonly #sweeper: Sweeper;

  constructor(options: ShellManagerOptions = {}) {
    checkOptions("new ShellManager", options);
    this.#options = options;
    this.allowedRoots = options.allowedRoots;
    this.#capBytes = options.capBytes ?? STREAM_CAP_BYTES;
    this.#events = options.events ?? new Events();
    this.root = new StateRoot(options.stateRoot ?? defaultStateRoot());
    this.#environment = buildEnvironment({ inherited: process.env, ...options.environment });
    this.user = UserEnvironment.of(options, this.root, this.#environment);
    this.#quota = new ShellQuota(options.maxLiveShells ?? LIVE_SHELLS_PER_SCOPE_MAX_COUNT, (scope) =>
      this.listRunning({ scope }),
    );
    this.confiner = new Confiner(options, this.root);
    const { env: environment } = this.#environment;
    const moreVariables = this.user?.variables;
    this.engine = new Engine({ ...options, root: this.root, environment, moreVariables });
    this.killGraceMs = options.killGraceMs ?? KILL_GRACE_MS;
    this.#shells = new KnownShells({
      engine: this.engine,
      root: this.root,
      ...{ graceMs: this.killGraceMs, allowedRoots: options.allowedRoots, events: this.#events },
    });
    this.#sweeper = new Sweeper({
      root: this.root,
      maxAgeSeconds: options.finishedMaxAgeSeconds ?? FINISHED_MAX_AGE_SECONDS,
      quotaBytes: options.quotaBytes ?? SPOOL_QUOTA_BYTES,
      onSwept: (ids) => this.#onSwept(ids),
    });
    this.sessions = this.#newSessions();
    this.finished = new FinishedShells({ root: this.root, shells: this.#shells });
    this.previews = openPreviews(this.root);
  }

  #newSessions(): SessionRegistry {
    const { environment, maxSessions } = this.#options;
    return new SessionRegistry(
      {
        engine: this.engine,
        events: this.#events,
        environment: this.environment,
        confiner: this.confiner,
        capBytes: this.#capBytes,
        killGraceMs: this.killGraceMs,
        allowedRoots: this.allowedRoots,
        sanitize: (inherited) => buildEnvironment({ ...environment, inherited }),
        createShell: (shell) => this.createShell(shell),
        forget: (shell) => this.forget(shell),
        watch: (bash) => this.#shells.running.add(bash),
        unwatch: (bash) => this.#shells.running.delete(bash),
        addDetached: (detached) => this.#addDetached(detached),
        addLeftover: (left) => this.#addLeftover(left),
      },
      maxSessions,
    );
  }

  static shared(): ShellManager {
    ShellManager.#shared ??= new ShellManager();
    return ShellManager.#shared;
  }

  /** Disposes of the shared manager; the next call of shared() makes a new one. */
  static async reset(): Promise<void> {
    const shared = ShellManager.#shared;
    ShellManager.#shared = undefined;
    await shared?.dispose();
  }

  /** The environment of commands. Changes when the user's profile changes. */
  get environment(): BuiltEnvironment {
    return this.user?.environment ?? this.#environment;
  }

  /** Known after the first start. */
  get containment(): Containment {
    return this.engine.containment;
  }

  /**
   * Starts the keeper early: forking is fast while this process is small, and the first command then need not wait
   * for the keeper. Also handles the shells of dead hosts.
   */
  async warmUp(): Promise<void> {
    await this.engine.ready();
    await this.confiner.warmUp();
    await this.adopt();
  }

  /** Takes over and returns durable shells whose host is dead. Ends everything else that dead hosts left behind. */
  async adopt(): Promise<ShellProcess[]> {
    const { adopted } = await adoptShells(this.engine, this.root);
    return adopted.map((started) => this.#shells.takeOver(started));
  }

  /** Ends the waiting slots of dead hosts, and removes the directories of dead keepers. Adopts no shells. */
  tidyUp(): void {
    removeAbandonedKeepers(this.root);
  }

  /** Any shell on disk by its id or an unambiguous prefix, regardless of host and scope. */
  find(idOrPrefix: string): ShellProcess | undefined {
    return this.#shells.find(idOrPrefix);
  }

  /** Every shell on disk, including those of other hosts, oldest first. */
  findAll(): ShellProcess[] {
    return this.#shells.all();
  }

  async createShell(options: CreateShellOptions): Promise<ShellProcess> {
    checkOptions("manager.createShell", options);
    const { idempotencyKey: key, scope = "default" } = options;
    if (key === undefined) return await this.#create(options, scope);
    return await this.#keys.run(scope, key, () => this.#create(options, scope));
  }

  /** Also finds shells of other hosts. Returns undefined for a shell of another scope. */
  getShell(id: string, { scope }: ScopeFilter = {}): ShellProcess | undefined {
    const shell = this.#shells.get(id);
    return shell && (scope === undefined || shell.scope === scope) ? shell : undefined;
  }

  /** True if a shell with this id in the scope was swept, or this manager forgot it. @internal */
  isRemoved(id: string, scope: string): boolean {
    return this.#shells.isRemoved(id, scope);
  }

  listShells({ scope }: ScopeFilter = {}): ShellProcess[] {
    return this.#shells.ownOf(scope);
  }

  listRunning(filter: ScopeFilter = {}): ShellProcess[] {
    return this.listShells(filter).filter(({ isRunning }) => isRunning);
  }

  /** Removes shells that ended more than `maxAgeSeconds` ago by the wall clock, and their output. Returns how many. */
  cleanupCompleted({ maxAgeSeconds = FINISHED_MAX_AGE_SECONDS } = {}): number {
    const before = wallMs() - maxAgeSeconds * 1000;
    return this.#forgetAll(({ completedAt }) => completedAt !== null && completedAt < before);
  }

  #forgetAll(isOld: (shell: ShellProcess) => boolean): number {
    const old = this.listShells().filter(isOld);
    for (const shell of old) this.forget(shell, { asSwept: true });
    return old.length;
  }

  /** Drops an ended shell and its files, and ends no leftovers. `asSwept`: later processes report the id as swept. */
  forget(shell: ShellProcess, { asSwept = false }: { readonly asSwept?: boolean } = {}): void {
    if (shell.isRunning) throw new NacreError("invalid_input", `${shell.id} is still running; end it first.`);
    this.#drop(shell.id);
    removeShell(this.root, shell.id, asSwept);
  }

  /** Ends every running shell of a scope, or of all scopes. Returns their number. */
  async killAll({ by = "killAll()", ...filter }: ScopeFilter & { by?: string } = {}): Promise<number> {
    return (await this.#shells.endAll(this.listRunning(filter), by)).size;
  }

  /** A bash whose state persists. Created at its first use. */
  session(id: string, options: SessionOptions): Session {
    return this.sessions.get(id, options);
  }

  findSession(id: string, filter: ScopeFilter = {}): Session | undefined {
    return this.sessions.find(id, filter);
  }

  listSessions(filter: ScopeFilter = {}): Session[] {
    return this.sessions.list(filter);
  }

  /** Ends everything this manager has started, leftovers included, except durable shells. Records and output stay. */
  async dispose(): Promise<void> {
    const { engine, confiner, killGraceMs, sessions } = this;
    await disposeShells({ shells: this.#shells, engine, confiner, killGraceMs, sessions });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  async #create(options: CreateShellOptions, scope: string): Promise<ShellProcess> {
    const plan = await planStart(
      { ...options, scope },
      {
        confiner: this.confiner,
        allowedRoots: this.allowedRoots,
        environment: this.environment.env,
        capBytes: this.#capBytes,
      },
    );
    this.#sweeper.scheduleIfDue();
    const leave = options.background === false ? () => {} : this.#quota.take(scope);
    let shell: ShellProcess | undefined;
    try {
      const started = await this.engine.start({ ...plan, onExit: (record) => shell?.conclude(record) });
      shell = this.#shells.addOwn({ processes: this.engine, started, command: options.command }, leave);
    } catch (error) {
      leave();
      throw error;
    }
    this.#events.emit("start", startOf(shell));
    const deadlineMs = deadlineOf(options);
    if (deadlineMs !== undefined) this.#shells.deadlines.set(shell, deadlineMs, deadlineMs);
    return shell;
  }

  #addDetached(detached: DetachedBash): ShellProcess {
    const { deadline } = detached;
    const shell = this.#shells.addOwn(detachedShell(this.engine, detached));
    this.#events.emit("start", startOf(shell));
    if (deadline) this.#shells.deadlines.set(shell, deadline.timeoutMs, deadline.leftMs);
    return shell;
  }

  #addLeftover(left: LeftoverCommand): ShellProcess {
    const shell = this.#shells.add(leftoverShell(this.engine, left));
    // Conclude before own(): the session has sent the "end" event of the command, so own() must not send another.
    shell.conclude(bashRecord(left));
    this.#shells.own(shell);
    return shell;
  }

  #onSwept(ids: readonly string[]): void {
    for (const id of ids) this.#drop(id);
    // The sweep does not report leftovers of session commands. Avoid the wall clock here, because it can be changed.
    const maxAgeMs = (this.#options.finishedMaxAgeSeconds ?? FINISHED_MAX_AGE_SECONDS) * 1000;
    this.#forgetAll(({ endedAgoMs }) => endedAgoMs !== null && endedAgoMs > maxAgeMs);
  }

  #drop(id: string): void {
    this.#shells.drop(id);
    this.#keys.forget(id);
  }
}
