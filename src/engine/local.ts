// This machine as a host: slots from a keeper, facts from /proc, signals from this process.
import { randomBytes } from "node:crypto";
import { accessSync, constants, realpathSync } from "node:fs";
import { join } from "node:path";
import { NacreError } from "../support/errors.ts";
import { POOL_SLOTS_COUNT, STREAM_CAP_BYTES } from "../support/limits.ts";
import { patiently } from "../support/patience.ts";
import { presenceOf, progressOf, readStartedShell } from "./attach.ts";
import type { ExitRecord } from "./end-record.ts";
import { EventLoopHold } from "./event-loop-hold.ts";
import { findBash } from "./find-bash.ts";
import { findLeftovers } from "./find-leftovers.ts";
import { COOKIE, findProcesses, ownerFinder } from "./find-processes.ts";
import type {
  Containment,
  Host,
  HuntPlan,
  ProcessRef,
  Progress,
  SignalResult,
  StartedShell,
  StartPlan,
} from "./host.ts";
import type { ShellIdentity } from "./identity.ts";
import { baseEnvironmentOf, type Job, jobOf } from "./job.ts";
import { Keeper } from "./keeper.ts";
import type { SpoolRoot } from "./layout.ts";
import { Logger } from "./logger.ts";
import type { ShellMeta } from "./meta.ts";
import { huntNewest, type OnStruck } from "./newest-processes.ts";
import { markPids } from "./pids-since.ts";
import { openPipe, pipePath, REPORT_FD } from "./process-pipe.ts";
import { allPids, hasProcfs, isSameProcess, lockLimit, readStat } from "./process-table.ts";
import { warnOfMissingReaper } from "./reaper.ts";
import { ReportFifo } from "./report-fifo.ts";
import { Room } from "./room.ts";
import { SharedLook } from "./shared-look.ts";
import { mayNotSignal, signalGroup, signalProcess } from "./signals.ts";
import { diskProblem, type Slot, SlotPool } from "./slot-pool.ts";
import { endStrays } from "./strays.ts";
import type { Presence } from "./sweep.ts";
import { TagHolders } from "./tag-holders.ts";
import { TakenSlot } from "./taken-slot.ts";

export interface LocalHostOptions {
  readonly root: SpoolRoot;
  /** What every command gets. */
  readonly environment: Readonly<Record<string, string>>;
  /** An absolute path of bash. @default the first one in PATH */
  readonly shellPath?: string | undefined;
  /** @default 2 */
  readonly poolSize?: number | undefined;
  /** Cap of the shells kept ready. */
  readonly capBytes?: number | undefined;
  /** "best-effort" does without tags, as on a machine where they do not work. @default "auto" */
  readonly containment?: "auto" | "best-effort" | undefined;
}

interface Running {
  readonly taken: TakenSlot;
  readonly onExit: (record: ExitRecord) => void;
}

export class LocalHost implements Host {
  readonly #options: LocalHostOptions;
  readonly #bashPath: string;
  readonly #keeper: Keeper;
  readonly #pool: SlotPool;
  readonly #running = new Map<string, Running>();
  readonly #tagHolders = new TagHolders();
  readonly #look = new SharedLook((shells) => findProcesses(this.#tagHolders.findable(shells), allPids()));
  readonly #loop = new EventLoopHold();
  #prepared = false;

  constructor(options: LocalHostOptions) {
    this.#options = options;
    const { root, environment } = options;
    // Without links: one of them could be led elsewhere before the next shell is started.
    this.#bashPath = realpathSync(findBash(options.shellPath, process.env["PATH"]));
    this.#keeper = new Keeper({
      bashPath: this.#bashPath,
      keeperDir: join(root.keepersDir, `${process.pid}-${randomBytes(4).toString("hex")}`),
      ownTag: options.containment === "best-effort" ? undefined : lockLimit("self"),
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

  readonly identity = { pid: process.pid, startTime: readStat(process.pid)?.startTime ?? "0" };

  get containment(): Containment {
    return this.#keeper.tagSpace ? "tag" : "best-effort";
  }

  async ready(): Promise<void> {
    const release = this.hold();
    try {
      this.#prepare();
      await this.#keeper.start();
      this.#pool.refillIn(0);
    } finally {
      release();
    }
  }

  async start(plan: StartPlan): Promise<StartedShell> {
    const release = this.hold();
    try {
      return await patiently(async () => await this.#startNow(plan));
    } finally {
      release();
    }
  }

  openReports(
    { shimPid, shimStart }: StartedShell,
    onBytes: (bytes: Buffer) => void,
  ): ReportFifo | undefined {
    const fd = openPipe({ pid: shimPid, startTime: shimStart }, REPORT_FD, "both");
    return fd === undefined ? undefined : new ReportFifo(fd, pipePath(shimPid, REPORT_FD), onBytes);
  }

  async openRoom(): Promise<Room> {
    return await Room.open(this.#keeper);
  }

  async openLogger(file: string, capBytes: number): Promise<Logger> {
    const { pid, fifo } = await this.#keeper.openLogger(file, capBytes);
    return new Logger(pid, file, { fifo });
  }

  release(shell: StartedShell): void {
    this.#tagHolders.release(shell);
  }

  async processesOf(shells: readonly StartedShell[]): Promise<Map<StartedShell, ProcessRef[]>> {
    return await this.#look.processesOf(shells);
  }

  async hunt(
    shells: readonly StartedShell[],
    plan: HuntPlan,
    onStruck: OnStruck,
    isPart: (pid: number, shell: StartedShell) => boolean = () => true,
  ): Promise<void> {
    const ownerOf = ownerFinder(this.#tagHolders.findable(shells));
    const partOf = (pid: number) => {
      const shell = ownerOf(pid);
      return shell && isPart(pid, shell) ? shell : undefined;
    };
    await huntNewest(partOf, plan, onStruck);
  }

  async leftoversOf(shell: StartedShell): Promise<ProcessRef[]> {
    return this.#tagHolders.findable([shell]).length === 0 ? [] : await findLeftovers(shell);
  }

  signal(target: Pick<ProcessRef, "pid" | "startTime">, signal: NodeJS.Signals): SignalResult {
    return signalProcess(target, signal);
  }

  mayNotSignal(target: ProcessRef): boolean {
    return mayNotSignal(target);
  }

  signalGroup(shell: StartedShell, signal: NodeJS.Signals): SignalResult {
    return signalGroup(shell, signal);
  }

  isAlive(pid: number, startTime: string): boolean {
    return isSameProcess(pid, startTime);
  }

  presence(identity: ShellIdentity): Presence {
    return presenceOf(identity);
  }

  attach(id: string): StartedShell | undefined {
    return readStartedShell(this.#options.root, id);
  }

  progressOf(shell: StartedShell): Progress {
    return progressOf(shell);
  }

  tidyUp(): void {
    endStrays(this.#options.root);
  }

  hold(): () => void {
    return this.#loop.hold();
  }

  async dispose(): Promise<void> {
    const release = this.hold();
    try {
      // These need no looking for, and the keeper has less to do.
      for (const slot of this.#pool.close()) this.#drop(slot);
      await this.#keeper.stop();
    } finally {
      release();
    }
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
    // Slots may have been killed while they waited, all of them at worst.
    const most = (this.#options.poolSize ?? POOL_SLOTS_COUNT) + 2;
    for (let tries = 0; tries < most; tries++) {
      const started = await this.#startOnce(plan);
      if (started) return started;
    }
    throw new NacreError(
      "spawn_failed",
      "Shells die before they get their command. Is something killing bash?",
    );
  }

  async #startOnce(plan: StartPlan): Promise<StartedShell | undefined> {
    const stdin = plan.session || plan.stdin ? "rest" : "";
    const { job, environment } = jobOf({ ...plan, stdin }, this.#options.environment);
    const slot = await this.#pool.take({ capBytes: plan.capBytes, streams: plan.streams, environment });
    const shim = readStat(slot.shimPid);
    const taken = new TakenSlot({
      slot,
      shimStart: shim?.startTime ?? "",
      plan,
      bashPath: this.#bashPath,
      supervisorFiles: this.#keeper.supervisorFiles,
    });
    if (!shim || shim.hasEnded) return this.#giveUp(taken);
    let meta: ShellMeta;
    try {
      meta = taken.prepare();
    } catch (cause) {
      // Asked before the slot is given up, which removes its directory.
      const isLost = !isWritable(slot.files.dir);
      this.#giveUp(taken);
      // Its directory was removed while it waited: the next one may be a new one.
      if (isLost) return undefined;
      if (cause instanceof NacreError) throw cause;
      throw new NacreError("spawn_failed", diskProblem(this.#options.root.path, cause), { cause });
    }
    const pidsBefore = markPids();
    this.#running.set(slot.generation, { taken, onExit: plan.onExit });
    this.#tagHolders.take(slot.tag, slot.id);
    let isSent = false;
    try {
      isSent = taken.send(this.#withCookie(job, slot.id));
    } finally {
      if (!isSent) {
        this.#running.delete(slot.generation);
        this.#giveUp(taken);
      }
    }
    if (!isSent) return undefined;
    const started = taken.begun(meta, pidsBefore);
    // In case it is a long one; its end asks for a refill at once.
    this.#pool.refillIn(20);
    return started;
  }

  #giveUp(taken: TakenSlot): undefined {
    taken.close();
    this.#drop(taken.slot);
    taken.free();
  }

  /** A slot that can no longer be used. */
  #drop(slot: Slot): void {
    signalProcess({ pid: slot.commandPid, startTime: slot.commandStart }, "SIGKILL");
    this.#pool.discard(slot);
  }

  #withCookie(job: Job, id: string): Job {
    return this.#keeper.tagSpace ? job : { ...job, variables: [...job.variables, `${COOKIE}=${id}`] };
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
    this.#pool.refillIn(1);
  }
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
