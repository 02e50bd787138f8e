// This machine as a host: slots from a keeper, facts from /proc, signals from this process.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findBash } from "../keeper/find-bash.ts";
import { type Job, Keeper } from "../keeper/keeper.ts";
import { writeDurableMark } from "../spool/durable-mark.ts";
import type { ExitRecord } from "../spool/end-record.ts";
import type { ShellIdentity } from "../spool/identity.ts";
import type { ShellFiles, SpoolRoot } from "../spool/layout.ts";
import { type ShellMeta, writeMeta } from "../spool/meta.ts";
import type { Presence } from "../spool/sweep.ts";
import { NacreError } from "../support/errors.ts";
import { FEW_PIDS_COUNT, POOL_SLOTS_COUNT, STREAM_CAP_BYTES, TIMER_MAX_MS } from "../support/limits.ts";
import { patiently } from "../support/patience.ts";
import { systemCode } from "../support/system-error.ts";
import { presenceOf, progressOf, readStartedShell } from "./attach.ts";
import { COOKIE, findProcesses } from "./find-processes.ts";
import type {
  Beginning,
  Containment,
  Host,
  ProcessRef,
  Progress,
  SignalResult,
  StartedShell,
  StartPlan,
} from "./host.ts";
import { baseEnvironmentOf, jobOf } from "./job.ts";
import { Logger } from "./logger.ts";
import {
  allPids,
  hasProcfs,
  isProcess,
  isSameProcess,
  lastPid,
  lockLimit,
  readStat,
} from "./process-table.ts";
import { ReportFifo } from "./report-fifo.ts";
import { Room } from "./room.ts";
import { ScriptChannel } from "./script-channel.ts";
import { SharedLook } from "./shared-look.ts";
import { diskProblem, type Slot, SlotPool } from "./slot-pool.ts";
import { StdinFeed } from "./stdin-feed.ts";
import { endStrays } from "./strays.ts";

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
  readonly slot: Slot;
  readonly channel: ScriptChannel | undefined;
  readonly beginning: Beginning | undefined;
  readonly stdin: StdinFeed | undefined;
  readonly onExit: (record: ExitRecord) => void;
}

export class LocalHost implements Host {
  readonly #options: LocalHostOptions;
  readonly #bashPath: string;
  readonly #keeper: Keeper;
  readonly #pool: SlotPool;
  readonly #running = new Map<string, Running>();
  /** Who has a tag now: an ended shell whose tag went to another one finds nothing any more. */
  readonly #tagHolders = new Map<bigint, string>();
  readonly #look = new SharedLook((shells) => findProcesses(this.#findable(shells), allPids()));
  #prepared = false;
  #holders = 0;
  #awake: NodeJS.Timeout | undefined;

  constructor(options: LocalHostOptions) {
    this.#options = options;
    const { root, environment } = options;
    this.#bashPath = findBash(options.shellPath, process.env["PATH"]);
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

  async openReports(onBytes: (bytes: Buffer) => void): Promise<ReportFifo> {
    return new ReportFifo(await this.#keeper.openFifo(), onBytes);
  }

  async openRoom(): Promise<Room> {
    return await Room.open(this.#keeper);
  }

  async openLogger(file: string, capBytes: number): Promise<Logger> {
    const { pid, fifo } = await this.#keeper.openLogger(file, capBytes);
    return new Logger(pid, file, fifo);
  }

  release(shell: StartedShell): void {
    const { tag, id } = shell;
    if (tag !== undefined && this.#tagHolders.get(tag) === id) this.#tagHolders.delete(tag);
  }

  async processesOf(shells: readonly StartedShell[]): Promise<Map<StartedShell, ProcessRef[]>> {
    return await this.#look.processesOf(shells);
  }

  async leftoversOf(shell: StartedShell): Promise<ProcessRef[]> {
    const last = lastPid();
    if (last === shell.pidBefore && last > 0) return [];
    // Pids are given out in order: only the new ones can be its own. A smaller one means that they wrapped.
    const candidates = last > shell.pidBefore ? pidsBetween(shell.pidBefore, last) : allPids();
    if (candidates.length === 0) return [];
    return (await findProcesses(this.#findable([shell]), candidates)).get(shell) ?? [];
  }

  signal(target: ProcessRef, signal: NodeJS.Signals): SignalResult {
    if (!isSameProcess(target.pid, target.startTime)) return "gone";
    return send(target.pid, signal);
  }

  mayNotSignal(target: ProcessRef): boolean {
    return send(target.pid, 0) === "denied";
  }

  signalGroup(shell: StartedShell, signal: NodeJS.Signals): SignalResult {
    // Only while its leader is the one we started: after that its number may be somebody else's.
    const stat = readStat(shell.commandPid);
    if (stat?.startTime !== shell.commandStart || stat.group !== shell.commandPid) return "gone";
    return send(-shell.commandPid, signal);
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

  /** A timer is all it takes: what is heard from the keeper arrives as long as the loop turns. */
  hold(): () => void {
    // One for all: it is held for every command of a session.
    this.#awake ??= setInterval(() => {}, TIMER_MAX_MS);
    if (this.#holders++ === 0) this.#awake.ref();
    let held = true;
    return () => {
      if (held && --this.#holders === 0) this.#awake?.unref();
      held = false;
    };
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

  /** Without those whose tag has gone to another shell since. */
  #findable(shells: readonly StartedShell[]): StartedShell[] {
    return shells.filter(
      ({ id, tag, unseen }) =>
        unseen === undefined && (tag === undefined || (this.#tagHolders.get(tag) ?? id) === id),
    );
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
    const stdin = plan.stdin && new StdinFeed(await this.#keeper.openFifo(), plan.stdin);
    const { job, environment } = jobOf({ ...plan, stdin: stdin?.path }, this.#options.environment);
    const slot = await this.#pool.take({ capBytes: plan.capBytes, streams: plan.streams, environment });
    const shim = readStat(slot.shimPid);
    if (!shim || shim.state === "Z") {
      stdin?.close();
      return this.#drop(slot);
    }
    let channel: ScriptChannel | undefined;
    let beginning: Beginning | undefined;
    let meta: ShellMeta;
    try {
      if (plan.session) channel = new ScriptChannel(this.#keeper.fifoPath(slot.fifo));
      beginning = plan.begin?.({
        id: slot.id,
        files: slot.files,
        holder: { pid: slot.shimPid, startTime: shim.startTime },
        bashPath: this.#bashPath,
        script: channel?.path,
      });
      if (beginning) writeBeginning(slot.files, beginning);
      meta = plan.meta(slot.id);
      const text = channel ? channel.program(this.#bashPath, meta.session) : plan.command;
      writeFileSync(slot.files.command, text, { mode: 0o600 });
      if (plan.trailer) writeFileSync(slot.files.trailer, "");
      if (meta.durable) writeDurableMark(slot.files.durable, meta);
      writeMeta(slot.files.meta, meta);
    } catch (cause) {
      channel?.close();
      stdin?.close();
      this.#drop(slot);
      beginning?.end();
      if (cause instanceof NacreError) throw cause;
      throw new NacreError("spawn_failed", diskProblem(this.#options.root.path, cause), { cause });
    }
    const pidBefore = lastPid();
    this.#running.set(slot.generation, { slot, channel, stdin, beginning, onExit: plan.onExit });
    if (slot.tag !== undefined) this.#tagHolders.set(slot.tag, slot.id);
    if (!this.#keeper.sendJob(slot.fifo, this.#withCookie(job, slot.id))) {
      this.#running.delete(slot.generation);
      channel?.close();
      beginning?.end();
      stdin?.close();
      return this.#drop(slot);
    }
    stdin?.begin();
    // In case it is a long one; its end asks for a refill at once.
    this.#pool.refillIn(20);
    return {
      id: slot.id,
      files: slot.files,
      meta,
      shimPid: slot.shimPid,
      shimStart: shim.startTime,
      commandPid: slot.commandPid,
      commandStart: slot.commandStart,
      ...(meta.confinement?.driver === "bubblewrap" ? { sandboxPid: slot.commandPid } : {}),
      tag: slot.tag,
      pidBefore,
      loggers: { stdout: slot.outLogger, stderr: slot.errLogger },
      ...(channel ? { channel } : {}),
    };
  }

  /** A slot that can no longer be used. */
  #drop(slot: Slot): undefined {
    // It may have died long ago.
    if (isSameProcess(slot.commandPid, slot.commandStart)) send(slot.commandPid, "SIGKILL");
    this.#pool.discard(slot);
  }

  #withCookie(job: Job, id: string): Job {
    return this.#keeper.tagSpace ? job : { ...job, variables: [...job.variables, `${COOKIE}=${id}`] };
  }

  #ended(generation: string, record: ExitRecord): void {
    const running = this.#running.get(generation);
    if (!running) {
      if (this.#pool.forgetIdle(generation)) this.#pool.refillIn(500);
      return;
    }
    this.#running.delete(generation);
    // Before its fifo goes to the next slot.
    running.channel?.close();
    running.stdin?.close();
    this.#pool.release(running.slot);
    if (running.beginning) writeRemarks(running.slot.files, running.beginning.end());
    running.onExit(record);
    this.#pool.refillIn(1);
  }
}

function writeBeginning({ dir, start }: ShellFiles, { script, files }: Beginning): void {
  for (const { name, content } of files) writeFileSync(join(dir, name), content, { mode: 0o600 });
  writeFileSync(start, script, { mode: 0o600 });
}

function writeRemarks({ remarks }: ShellFiles, lines: readonly string[]): void {
  if (lines.length === 0) return;
  try {
    writeFileSync(remarks, `${lines.join("\n")}\n`, { mode: 0o600 });
  } catch {
    // The disk is full, say: the end itself is on it.
  }
}

/** Those that are there, of the pids given out since. */
function pidsBetween(before: number, last: number): number[] {
  if (last - before > FEW_PIDS_COUNT) return allPids().filter((pid) => pid > before && pid <= last);
  const pids = Array.from({ length: last - before }, (_, index) => before + 1 + index);
  // Threads have numbers of the same kind, and a directory that no listing shows.
  return pids.filter(isProcess);
}

function send(pid: number, signal: NodeJS.Signals | 0): SignalResult {
  try {
    process.kill(pid, signal);
    return "sent";
  } catch (error) {
    return systemCode(error) === "EPERM" ? "denied" : "gone";
  }
}
