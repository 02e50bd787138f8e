// This machine as a host: slots from a keeper, facts from /proc, signals from this process.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findBash } from "../keeper/find-bash.ts";
import { type Job, Keeper } from "../keeper/keeper.ts";
import { encodeFields } from "../keeper/protocol.ts";
import type { ExitRecord } from "../spool/end-record.ts";
import type { SpoolRoot } from "../spool/layout.ts";
import { writeMeta } from "../spool/meta.ts";
import { NacreError } from "../support/errors.ts";
import { JOB_MAX_BYTES, POOL_SLOTS_COUNT, STREAM_CAP_BYTES } from "../support/limits.ts";
import type { Containment, Host, ProcessRef, SignalResult, StartedShell, StartPlan } from "./host.ts";
import {
  allPids,
  commandLine,
  environmentHas,
  forEachPid,
  hasProcfs,
  isSameProcess,
  lastPid,
  lockLimit,
  readStat,
} from "./process-table.ts";
import { diskProblem, type Slot, SlotPool } from "./slot-pool.ts";
import { tagNumberOf } from "./tag-numbers.ts";

/** Set for every command where tags do not work: one more way to find what it left. */
const COOKIE = "NACRE_SHELL";

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
  readonly onExit: (record: ExitRecord) => void;
}

export class LocalHost implements Host {
  readonly #options: LocalHostOptions;
  readonly #keeper: Keeper;
  readonly #pool: SlotPool;
  readonly #running = new Map<string, Running>();
  /** Who has a number now: an ended shell whose number went to another one finds nothing any more. */
  readonly #numberHolders = new Map<number, string>();
  #prepared = false;

  constructor(options: LocalHostOptions) {
    this.#options = options;
    const { root, environment } = options;
    this.#keeper = new Keeper({
      bashPath: findBash(options.shellPath, process.env["PATH"]),
      keeperDir: join(root.keepersDir, `${process.pid}-${randomBytes(4).toString("hex")}`),
      ownTag: options.containment === "best-effort" ? undefined : lockLimit("self"),
      baseEnvironment: pairs(environment),
      liveDirs: () => [
        ...[...this.#running.values()].map(({ slot }) => slot.files.dir),
        ...this.#pool.idleDirs(),
      ],
      onExit: (generation, record) => this.#ended(generation, record),
    });
    this.#pool = new SlotPool({
      keeper: this.#keeper,
      root,
      size: options.poolSize ?? POOL_SLOTS_COUNT,
      usualKind: { capBytes: options.capBytes ?? STREAM_CAP_BYTES, streams: "split", environment: undefined },
    });
  }

  get containment(): Containment {
    return this.#keeper.tagSpace ? "tag" : "best-effort";
  }

  async ready(): Promise<void> {
    this.#prepare();
    await this.#keeper.start();
    this.#pool.refillIn(0);
  }

  async start(plan: StartPlan): Promise<StartedShell> {
    this.#prepare();
    const release = this.hold();
    try {
      await this.#keeper.start();
      for (let tries = 0; tries < 3; tries++) {
        const started = await this.#startOnce(plan);
        if (started) return started;
      }
      throw new NacreError(
        "spawn_failed",
        "Shells die before they get their command. Is something killing bash?",
      );
    } finally {
      release();
    }
  }

  release(shell: StartedShell): void {
    const { tagNumber } = shell;
    if (tagNumber !== undefined && this.#numberHolders.get(tagNumber) === shell.id)
      this.#numberHolders.delete(tagNumber);
  }

  async processesOf(shells: readonly StartedShell[]): Promise<Map<StartedShell, ProcessRef[]>> {
    const found = new Map<StartedShell, ProcessRef[]>(shells.map((shell) => [shell, []]));
    if (this.#keeper.tagSpace) await this.#findTagged(allPids(), shells, found);
    else await this.#findRelated(shells, found);
    return found;
  }

  async leftoversOf(shell: StartedShell): Promise<ProcessRef[]> {
    const last = lastPid();
    if (last === shell.pidBefore && last > 0) return [];
    const span = last - shell.pidBefore;
    const every = allPids();
    const found = new Map<StartedShell, ProcessRef[]>([[shell, []]]);
    // Pids are given out in order: only the new ones can be its own. Fewer is not more: it wrapped.
    const candidates = span > 0 ? every.filter((pid) => pid > shell.pidBefore && pid <= last) : every;
    if (this.#keeper.tagSpace) await this.#findTagged(candidates, [shell], found);
    else await this.#findRelated([shell], found);
    return found.get(shell) ?? [];
  }

  signal(target: ProcessRef, signal: NodeJS.Signals): SignalResult {
    if (!isSameProcess(target.pid, target.startTime)) return "gone";
    return send(target.pid, signal);
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

  hold(): () => void {
    return this.#keeper.hold();
  }

  async dispose(): Promise<void> {
    this.#pool.close();
    await this.#keeper.stop();
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

  async #startOnce(plan: StartPlan): Promise<StartedShell | undefined> {
    const { job, environment } = this.#jobOf(plan);
    const slot = await this.#pool.take({ capBytes: plan.capBytes, streams: plan.streams, environment });
    const meta = plan.meta(slot.id);
    try {
      writeFileSync(slot.files.command, plan.command, { mode: 0o600 });
      writeMeta(slot.files.meta, meta);
    } catch (cause) {
      const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
      send(slot.commandPid, "SIGKILL");
      this.#pool.discard(slot);
      throw new NacreError("spawn_failed", diskProblem(this.#options.root.path, code, cause), { cause });
    }
    const pidBefore = lastPid();
    this.#running.set(slot.generation, { slot, onExit: plan.onExit });
    if (slot.tagNumber !== undefined) this.#numberHolders.set(slot.tagNumber, slot.id);
    if (!this.#keeper.sendJob(slot.fifo, this.#withCookie(job, slot.id))) {
      this.#running.delete(slot.generation);
      this.#pool.discard(slot);
      return undefined;
    }
    // In case it is a long one; its end asks for a refill at once.
    this.#pool.refillIn(20);
    return {
      id: slot.id,
      files: slot.files,
      meta,
      shimPid: slot.shimPid,
      shimStart: readStat(slot.shimPid)?.startTime ?? "0",
      commandPid: slot.commandPid,
      commandStart: slot.commandStart,
      tagNumber: slot.tagNumber,
      pidBefore,
    };
  }

  /** Variables travel with the job where the waiting bash can take them, else in a slot of their own. */
  #jobOf({ workingDir, variables }: StartPlan): { job: Job; environment: readonly string[] | undefined } {
    const base = this.#options.environment;
    const bashEnv = variables["BASH_ENV"] ?? base["BASH_ENV"] ?? "";
    const job = { workingDir, bashEnv, variables: pairs(variables) };
    const simple = Object.keys(variables).every(canBeExported);
    if (simple && Buffer.byteLength(encodeFields(job.variables)) + workingDir.length <= JOB_MAX_BYTES) {
      return { job, environment: undefined };
    }
    return { job: { workingDir, bashEnv, variables: [] }, environment: pairs({ ...base, ...variables }) };
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
    this.#pool.release(running.slot);
    running.onExit(record);
    this.#pool.refillIn(1);
  }

  async #findTagged(
    pids: readonly number[],
    shells: readonly StartedShell[],
    found: Map<StartedShell, ProcessRef[]>,
  ): Promise<void> {
    const space = this.#keeper.tagSpace;
    if (!space) return;
    const byNumber = new Map<number, StartedShell>();
    for (const shell of shells) {
      const { tagNumber } = shell;
      if (tagNumber !== undefined && this.#numberHolders.get(tagNumber) === shell.id)
        byNumber.set(tagNumber, shell);
    }
    await forEachPid(pids, (pid) => {
      const number = tagNumberOf(pid, space);
      const shell = number === undefined ? undefined : byNumber.get(number);
      if (shell) addProcess(pid, found.get(shell));
    });
  }

  /** Without tags: the group, the descendants, and whoever still has the cookie. */
  async #findRelated(shells: readonly StartedShell[], found: Map<StartedShell, ProcessRef[]>): Promise<void> {
    const owner = new Map<number, StartedShell>(shells.map((shell) => [shell.commandPid, shell]));
    const pids = allPids().sort((a, b) => a - b);
    const parents = new Map<number, number>();
    await forEachPid(pids, (pid) => {
      const stat = readStat(pid);
      if (!stat) return;
      parents.set(pid, stat.parent);
      const byCookie = shells.find((shell) => environmentHas(pid, `${COOKIE}=${shell.id}`));
      const shell = owner.get(pid) ?? owner.get(stat.group) ?? owner.get(stat.session) ?? byCookie;
      if (shell) owner.set(pid, shell);
    });
    for (const pid of pids) {
      for (let up: number | undefined = pid; up !== undefined && up > 1; up = parents.get(up)) {
        const shell = owner.get(up);
        if (!shell) continue;
        addProcess(pid, found.get(shell));
        break;
      }
    }
  }
}

function addProcess(pid: number, list: ProcessRef[] | undefined): void {
  const stat = readStat(pid);
  if (!stat || stat.state === "Z" || stat.state === "X") return;
  list?.push({ pid, startTime: stat.startTime, group: stat.group, command: commandLine(pid) });
}

function pairs(variables: Readonly<Record<string, string>>): string[] {
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}

/** Names a running bash can set and export as they are. */
function canBeExported(name: string): boolean {
  return (
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) &&
    !/^(UID|EUID|PPID|BASH.*|SHELLOPTS|IFS|POSIXLY_CORRECT|FUNCNAME|GROUPS|DIRSTACK|RANDOM|SRANDOM|SECONDS|EPOCH.*|LINENO|OLDPWD|PWD|__nacre_.*)$/.test(
      name,
    )
  );
}

function send(pid: number, signal: NodeJS.Signals): SignalResult {
  try {
    process.kill(pid, signal);
    return "sent";
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM" ? "denied" : "gone";
  }
}
