// Starts shells on this machine and finds their processes. The keeper provides the slots, and /proc shows the
// processes.
//
//   start -> SlotPool.take            a bash that waits for its job, or a new one from the keeper
//         -> TakenSlot.prepare        command, meta and start script on disk
//         -> TakenSlot.send           the job through the slot's pipe; bash runs the command
//   end   <- Keeper <- shim.sh        the exit record, after it is on disk
//         -> #ended                   closes the slot, frees its tag, calls plan.onExit, refills the pool
import { accessSync, constants, realpathSync } from "node:fs";
import { NacreError } from "../support/errors.ts";
import { holdEventLoop } from "../support/event-loop-hold.ts";
import {
  POOL_REFILL_AFTER_END_MS,
  POOL_REFILL_DELAY_MS,
  POOL_SLOTS_COUNT,
  STREAM_CAP_BYTES,
} from "../support/limits.ts";
import { retryShortage } from "../support/retry-shortage.ts";
import type { ExitRecord } from "./end-record.ts";
import type { EngineOptions } from "./engine-options.ts";
import { FifoDir } from "./fifo-dir.ts";
import { findBash } from "./find-bash.ts";
import { findLeftovers } from "./find-leftovers.ts";
import { COOKIE, candidatesOf, findProcesses, ownerFinder } from "./find-processes.ts";
import { hasNoProcess } from "./host-processes.ts";
import { baseEnvironmentOf, type Job, jobOf } from "./job.ts";
import { Keeper, type LoggerProcess } from "./keeper.ts";
import { disposedOf } from "./keeper-errors.ts";
import type { ShellMeta } from "./meta.ts";
import { type OnSignalled, type SignalNewPlan, signalNewest } from "./newest-processes.ts";
import { markPids } from "./pids-since.ts";
import type { ShellScope } from "./process-scope.ts";
import { hasProcfs, type ProcessRef, readStat, tagLimits } from "./process-table.ts";
import { warnOfMissingReaper } from "./reaper.ts";
import { SharedScan } from "./shared-scan.ts";
import { type SignalResult, signalGroup, signalProcess } from "./signals.ts";
import { diskProblem, type Slot, SlotPool } from "./slot-pool.ts";
import type { StartedShell } from "./started-shell.ts";
import { TagHolders } from "./tag-holders.ts";
import { type StartPlan, TakenSlot } from "./taken-slot.ts";

/**
 * How nacre finds the processes of a shell: by tag, or only by process group, parent links and an environment
 * variable.
 */
export type Containment = "tag" | "best-effort";

interface Running {
  readonly taken: TakenSlot;
  readonly onExit: (record: ExitRecord) => void;
  /** The tag number of a durable shell. */
  readonly durableTagNumber: number | undefined;
}

export class Engine implements ShellScope {
  readonly #options: EngineOptions;
  readonly #bashPath: string;
  readonly #keeper: Keeper;
  readonly #pool: SlotPool;
  /** The shells whose exit the keeper has not reported yet, by the generation of their slot. */
  readonly #running = new Map<string, Running>();
  readonly #tagHolders = new TagHolders();
  readonly #scan = new SharedScan((shells) => {
    const findable = this.#tagHolders.findable(shells);
    return findProcesses(findable, candidatesOf(findable));
  });
  #prepared = false;
  #disposed = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { root, environment } = options;
    // Resolve symbolic links now: if a link changes later, the next shell must not run another program.
    this.#bashPath = realpathSync(findBash(options.shellPath, process.env["PATH"]));
    this.#keeper = new Keeper({
      bashPath: this.#bashPath,
      keeperDir: root.newKeeperDir(),
      ownLimits: options.containment === "best-effort" ? undefined : tagLimits("self"),
      baseEnvironment: baseEnvironmentOf(environment),
      onExit: (generation, record) => this.#ended(generation, record),
    });
    this.#pool = new SlotPool({
      keeper: this.#keeper,
      root,
      size: options.poolSize ?? POOL_SLOTS_COUNT,
      usualKind: { capBytes: options.capBytes ?? STREAM_CAP_BYTES, streams: "split", environment: undefined },
    });
  }

  /** Valid after ready() or start() has resolved. */
  get containment(): Containment {
    return this.#keeper.tagSpace ? "tag" : "best-effort";
  }

  /** Starts the keeper and fills the pool: otherwise the first command would wait for both. */
  async ready(): Promise<void> {
    using _hold = holdEventLoop();
    this.#prepare();
    await this.#keeper.start();
    this.#pool.refillIn(0);
  }

  async start(plan: StartPlan): Promise<StartedShell> {
    using _hold = holdEventLoop();
    const more = await this.#options.moreVariables?.();
    const full = more ? { ...plan, variables: { ...more, ...plan.variables } } : plan;
    return await retryShortage(async () => await this.#startNow(full));
  }

  /** Creates a directory that a sandboxed session can see. It contains the fifos of the session's loggers. */
  async openFifoDir(): Promise<FifoDir> {
    return await FifoDir.open(this.#keeper);
  }

  /** Starts another logger for a session. */
  async openLogger(file: string, capBytes: number): Promise<LoggerProcess> {
    return await this.#keeper.openLogger(file, capBytes);
  }

  /** Call this when the manager drops an ended shell. The shell then no longer counts as the holder of its tag. */
  release(shell: StartedShell): void {
    this.#tagHolders.release(shell);
  }

  async processesOf(shells: readonly StartedShell[]): Promise<Map<StartedShell, ProcessRef[]>> {
    return await this.#scan.processesOf(shells);
  }

  /** `isPart`: whether a process of the shell may get the signal. */
  async signalNewProcesses(
    shells: readonly StartedShell[],
    plan: SignalNewPlan,
    onSignalled: OnSignalled,
    isPart: (pid: number, shell: StartedShell) => boolean = () => true,
  ): Promise<void> {
    const ownerOf = ownerFinder(this.#tagHolders.findable(shells));
    const partOf = (pid: number) => {
      const shell = ownerOf(pid);
      return shell && isPart(pid, shell) ? shell : undefined;
    };
    await signalNewest(partOf, plan, onSignalled);
  }

  async leftoversOf(shell: StartedShell): Promise<ProcessRef[]> {
    return this.#tagHolders.findable([shell]).length === 0 ? [] : await findLeftovers(shell);
  }

  signalGroup(shell: StartedShell, signal: NodeJS.Signals): SignalResult {
    return signalGroup(shell, signal);
  }

  /** Ends every shell of this engine that is not durable. */
  async dispose(): Promise<void> {
    using _hold = holdEventLoop();
    // From now on, no slot gets a job.
    this.#disposed = true;
    // End the waiting slots here: this process knows their PIDs, while the keeper would have to search for them.
    for (const slot of this.#pool.close()) this.#drop(slot);
    await this.#keeper.stop(() => this.#isClean());
  }

  /** True if no command has left a process that must end with this host. */
  async #isClean(): Promise<boolean> {
    const { tagSpace: space, pidsBefore } = this.#keeper;
    const durable = new Set([...this.#running.values()].map(({ durableTagNumber }) => durableTagNumber));
    return space !== undefined && (await hasNoProcess({ space, pidsBefore, durable }));
  }

  #prepare(): void {
    if (this.#prepared) return;
    if (!hasProcfs()) {
      throw new NacreError(
        "spawn_failed",
        "nacre needs /proc to find what a command leaves running; it is not mounted.",
      );
    }
    this.#options.root.ensure();
    warnOfMissingReaper();
    this.#prepared = true;
  }

  async #startNow(plan: StartPlan): Promise<StartedShell> {
    this.#prepare();
    // Try more often than there are waiting slots, because another process may have killed all of them.
    const most = (this.#options.poolSize ?? POOL_SLOTS_COUNT) + 2;
    for (let tries = 0; tries < most; tries++) {
      const started = await this.#startOnce(plan);
      if (started) return started;
    }
    throw new NacreError(
      "spawn_failed",
      "No shell could be started: every bash died before it got its command. Is another program killing bash?",
    );
  }

  /** Returns undefined if the slot is dead: the caller then takes another slot. */
  async #startOnce(plan: StartPlan): Promise<StartedShell | undefined> {
    const stdin = plan.isTerminal ? "keep" : plan.session || plan.stdin ? "rest" : "";
    const { job, environment } = jobOf({ ...plan, stdin }, this.#options.environment);
    const slot = await this.#pool.take({ capBytes: plan.capBytes, streams: plan.streams, environment });
    if (this.#disposed) {
      this.#drop(slot);
      throw disposedOf();
    }
    const shim = readStat(slot.shimPid);
    const taken = new TakenSlot({
      slot,
      shimStart: shim?.startTime ?? "",
      plan,
      bashPath: this.#bashPath,
      supervisorFiles: this.#keeper.supervisorFiles,
    });
    if (!shim || shim.hasEnded) return this.#giveUp(taken);
    const meta = this.#prepareSlot(taken);
    const pidsBefore = markPids();
    if (!meta || !this.#send(taken, job, plan, meta)) return undefined;
    // Refill the pool after a delay, because the command may run for a long time. If the command ends sooner, #ended
    // refills the pool.
    this.#pool.refillIn(POOL_REFILL_DELAY_MS);
    return taken.begun(meta, pidsBefore);
  }

  /**
   * Returns undefined if the slot's directory was removed while the slot waited. The next slot gets a new directory.
   */
  #prepareSlot(taken: TakenSlot): ShellMeta | undefined {
    try {
      return taken.prepare();
    } catch (cause) {
      // Check before #giveUp, which removes the directory.
      const isLost = !isWritable(taken.slot.files.dir);
      this.#giveUp(taken);
      if (isLost) return undefined;
      if (cause instanceof NacreError) throw cause;
      throw new NacreError("spawn_failed", diskProblem(this.#options.root.path, cause), { cause });
    }
  }

  /** False if the slot has died. */
  #send(taken: TakenSlot, job: Job, { onExit }: StartPlan, { durable }: ShellMeta): boolean {
    const { generation, tagNumber, id } = taken.slot;
    // Register the shell before sending the job: the command can end at once.
    this.#running.set(generation, { taken, onExit, durableTagNumber: durable ? tagNumber : undefined });
    this.#tagHolders.take(taken.slot);
    let isSent = false;
    try {
      isSent = taken.send(this.#keeper.tagSpace ? job : withCookie(job, id));
      return isSent;
    } finally {
      if (!isSent) {
        this.#running.delete(generation);
        this.#giveUp(taken);
      }
    }
  }

  #giveUp(taken: TakenSlot): undefined {
    taken.close();
    this.#drop(taken.slot);
    taken.free();
  }

  #drop(slot: Slot): void {
    signalProcess({ pid: slot.commandPid, startTime: slot.commandStart }, "SIGKILL");
    this.#pool.discard(slot);
  }

  #ended(generation: string, record: ExitRecord): void {
    const running = this.#running.get(generation);
    if (!running) {
      this.#pool.forgetIdle(generation);
      return;
    }
    this.#running.delete(generation);
    const { taken, onExit } = running;
    taken.close();
    this.#pool.release(taken.slot);
    taken.free();
    onExit(record);
    this.#pool.refillIn(POOL_REFILL_AFTER_END_MS);
  }
}

function withCookie(job: Job, id: string): Job {
  return { ...job, variables: [...job.variables, `${COOKIE}=${id}`] };
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
