// The host's side of its keeper: starts the keeper, asks it for slots and loggers, and starts another keeper when it
// dies. Every request gets an answer or an error, and no request waits for a dead keeper.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { monotonicMs } from "../support/clock.ts";
import {
  KEEPER_ANSWER_MAX_MS,
  KEEPER_LAST_ANSWERS_MS,
  KEEPER_RESTART_WINDOW_MS,
  KEEPER_RESTARTS_MAX_COUNT,
  KEEPER_STOPPED_CHECK_MS,
} from "../support/limits.ts";
import { type Deferred, deferred } from "../support/timing.ts";
import type { ExitRecord } from "./end-record.ts";
import { disposedOf, keepsStopping, notInTime, outOfSomething } from "./keeper-errors.ts";
import {
  KeeperLost,
  type KeeperProcess,
  KeyRefused,
  keeperTagOptions,
  startKeeperProcess,
  TagTaken,
} from "./keeper-process.ts";
import { KeeperScripts, supervisorFiles } from "./keeper-scripts.ts";
import { markPids, NO_PIDS, type PidMark, watchPids } from "./pids-since.ts";
import type { TagLimits } from "./process-table.ts";
import type { Answer, Hello, ReadySlot } from "./protocol.ts";
import { sendSignal } from "./signals.ts";
import { KEEPER_NAMES } from "./state-dir.ts";
import { TagSpace } from "./tag.ts";

export interface KeeperOptions {
  readonly bashPath: string;
  /** A directory private to this host, with the keeper's scripts. The keeper removes it when the host is gone. */
  readonly keeperDir: string;
  /** The inherited tag and key. The tags and the key of this host use the bits below them. undefined: use no tags. */
  readonly ownLimits: Pick<TagLimits, "tag" | "key"> | undefined;
  /** NAME=VALUE pairs that most commands get. */
  readonly baseEnvironment: readonly string[];
  readonly onExit: (generation: string, record: ExitRecord) => void;
}

export interface SlotRequest {
  readonly dir: string;
  readonly tag: string;
  readonly capBytes: number;
  readonly streams: "split" | "merged";
  /** The whole environment; undefined for the base environment. */
  readonly environment: readonly string[] | undefined;
}

/** A logger that was started for a running session. */
export interface LoggerProcess {
  readonly pid: number;
  /** The fifo that it reads from; undefined if its stdin is an unnamed pipe. */
  readonly fifo: string | undefined;
}

export class Keeper {
  readonly #options: KeeperOptions;
  readonly #scripts: KeeperScripts;
  /** Unanswered requests: slots by generation, loggers by name. */
  readonly #slots = new Map<string, Deferred<ReadySlot>>();
  readonly #loggers = new Map<string, Deferred<number>>();
  #process: Promise<KeeperProcess> | undefined;
  #current: KeeperProcess | undefined;
  /** Killed keepers. Until the next keeper is ready, their deputies end the shells if the host dies. */
  readonly #killed: KeeperProcess[] = [];
  #tagSpace: TagSpace | undefined;
  #canHaveKey = true;
  #pidsBefore: PidMark = NO_PIDS;
  #unwatchPids: (() => void) | undefined;
  #lastGeneration = 0;
  #lastName = 0;
  #stopped = false;
  #starts: number[] = [];

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#scripts = new KeeperScripts(options.keeperDir);
  }

  /** Starts the keeper unless it is running. */
  async start(): Promise<Hello> {
    if (this.#stopped) throw disposedOf();
    this.#process ??= this.#launch();
    return (await this.#process).hello;
  }

  /** undefined without tags. Valid after start(). */
  get tagSpace(): TagSpace | undefined {
    return this.#tagSpace;
  }

  /** Recorded before the first keeper started: no older process has a tag of this host. */
  get pidsBefore(): PidMark {
    return this.#pidsBefore;
  }

  /** False if the keeper's directory was removed. Every request restores the directory first. */
  get hasFiles(): boolean {
    return this.#scripts.areInPlace;
  }

  async openSlot(request: SlotRequest): Promise<ReadySlot> {
    const keeper = await this.#ready();
    const generation = String(++this.#lastGeneration);
    const { dir, tag, streams, environment } = request;
    if (environment) keeper.send(["env", "once", String(environment.length), ...environment]);
    const fields = [dir, tag, capKibOf(request.capBytes), streams, environment ? "once" : "base"];
    return await this.#ask(keeper, this.#slots, generation, ["slot", generation, ...fields]);
  }

  /** The first program of a sandboxed session, then the files it reads. */
  get supervisorFiles(): readonly [string, ...string[]] {
    return supervisorFiles(this.#options.keeperDir);
  }

  /** Creates a directory for one sandbox in the keeper's directory. Returns its name. */
  async openFifoDir(): Promise<string> {
    await this.#restored();
    const name = KEEPER_NAMES.fifoDir(++this.#lastName);
    mkdirSync(this.pathOf(name), { mode: 0o700 });
    return name;
  }

  /**
   * Starts a logger. The logger begins when it reads an empty line from its stdin, and ends when no process has its
   * stdin open for writing. With `fifoDir`, its stdin is a fifo in that directory; otherwise it is an unnamed pipe.
   */
  async openLogger(file: string, capBytes: number, fifoDir?: string): Promise<LoggerProcess> {
    const keeper = await this.#ready();
    const name = KEEPER_NAMES.loggerFifo(++this.#lastName);
    const fifo = fifoDir === undefined ? "" : join(fifoDir, name);
    const request = ["log", name, fifo, file, capKibOf(capBytes)];
    const pid = await this.#ask(keeper, this.#loggers, name, request);
    return { pid, fifo: fifo === "" ? undefined : this.pathOf(fifo) };
  }

  /** The path of an entry of the keeper's directory. */
  pathOf(name: string): string {
    return join(this.#options.keeperDir, name);
  }

  /**
   * Ends the keeper, which first ends every shell of this host that is not durable. `isClean` returns true if no
   * command has left a process. stop() calls it when no further command can start.
   */
  async stop(isClean: () => Promise<boolean> = async () => false): Promise<void> {
    this.#stopped = true;
    const keeper = await this.#process?.catch(() => undefined);
    const clean = await isClean();
    // If the keeper was killed and no other keeper has started yet, the deputy of the killed one ends the shells.
    await Promise.all([keeper, ...this.#killed.splice(0)].map((one) => one?.end(clean)));
    this.#unwatchPids?.();
  }

  async #ready(): Promise<KeeperProcess> {
    await this.#restored();
    if (!this.#current) throw new KeeperLost();
    return this.#current;
  }

  /** Restores the scripts. The keeper itself restores the rest of its directory at the next request. */
  async #restored(): Promise<void> {
    await this.start();
    if (!this.hasFiles) this.#scripts.place();
  }

  /** Sends a request. Throws if no answer comes in time. While it waits, continues the keeper if it is stopped. */
  async #ask<T>(
    keeper: KeeperProcess,
    pending: Map<string, Deferred<T>>,
    key: string,
    request: readonly string[],
  ): Promise<T> {
    const answer = deferred<T>();
    pending.set(key, answer);
    keeper.send(request);
    const deadline = monotonicMs() + KEEPER_ANSWER_MAX_MS;
    const timer = setInterval(() => {
      const isStopped = keeper.continueIfStopped();
      if (monotonicMs() > deadline)
        fail(pending, key, isStopped ? keepsStopping(keeper.hello.pid) : notInTime());
    }, KEEPER_STOPPED_CHECK_MS);
    // A request for a pool slot must not keep the program alive. A waiting caller keeps it alive itself.
    timer.unref();
    try {
      return await answer.promise;
    } finally {
      clearInterval(timer);
    }
  }

  async #launch(): Promise<KeeperProcess> {
    const { bashPath, keeperDir } = this.#options;
    const restarted = this.#tagSpace;
    this.#starts.push(monotonicMs());
    // Let start() assign the promise first: otherwise a failure before the next await could not reset that promise.
    await undefined;
    for (;;) {
      try {
        this.#watchPids();
        const space = restarted ?? this.#drawSpace();
        const keeper = await startKeeperProcess({
          bashPath,
          keeperDir,
          scripts: this.#scripts,
          ...keeperTagOptions(space, restarted !== undefined),
          onAnswer: (answer) => this.#take(answer),
          onExit: () => this.#lost(keeper),
        });
        this.#tagSpace = keeper.hello.tagged ? space : undefined;
        this.#current = keeper;
        const { baseEnvironment } = this.#options;
        keeper.send(["env", "base", String(baseEnvironment.length), ...baseEnvironment]);
        // The new keeper has read the list of shells from disk, so the deputies may exit.
        for (const former of this.#killed.splice(0)) former.relieveDeputy();
        return keeper;
      } catch (error) {
        if (error instanceof KeyRefused) this.#canHaveKey = false;
        if (error instanceof KeyRefused || error instanceof TagTaken) continue;
        this.#process = undefined;
        throw error;
      }
    }
  }

  #watchPids(): void {
    if (this.#unwatchPids) return;
    this.#pidsBefore = markPids();
    this.#unwatchPids = watchPids();
  }

  #drawSpace(): TagSpace | undefined {
    const { ownLimits } = this.#options;
    const space = ownLimits && TagSpace.within(ownLimits.tag, Math.random());
    return this.#canHaveKey && ownLimits ? space?.withKey(ownLimits.key, Math.random()) : space;
  }

  #take(answer: Answer): void {
    switch (answer.kind) {
      case "ready":
        // Kill the slot if its caller has given up: no process would ever send it a job.
        if (!settle(this.#slots, answer.generation, answer)) sendSignal(answer.commandPid, "SIGKILL");
        break;
      case "failed":
        fail(this.#slots, answer.generation, outOfSomething());
        break;
      case "logging":
        settle(this.#loggers, answer.name, answer.pid);
        break;
      case "no":
        fail(this.#loggers, answer.name, outOfSomething());
        break;
      case "exit":
        this.#options.onExit(answer.generation, answer.record);
        break;
    }
  }

  #lost(keeper: KeeperProcess): void {
    if (this.#current !== keeper) return;
    this.#current = undefined;
    this.#process = undefined;
    this.#killed.push(keeper);
    const slots = [...this.#slots.keys()];
    const loggers = [...this.#loggers.keys()];
    // A shim that the keeper forked just before its end can still answer through the pipe that it inherited.
    setTimeout(() => {
      for (const generation of slots) fail(this.#slots, generation, new KeeperLost());
      for (const name of loggers) fail(this.#loggers, name, new KeeperLost());
    }, KEEPER_LAST_ANSWERS_MS);
    this.#revive();
  }

  /** Starts the next keeper at once, because every shell needs one. Waits first if keepers die one after another. */
  #revive(): void {
    if (this.#stopped) return;
    const since = monotonicMs() - KEEPER_RESTART_WINDOW_MS;
    this.#starts = this.#starts.filter((at) => at > since);
    if (this.#starts.length <= KEEPER_RESTARTS_MAX_COUNT) void this.start().catch(() => this.#revive());
    else setTimeout(() => this.#revive(), KEEPER_RESTART_WINDOW_MS).unref();
  }
}

/** False if no caller waits for this answer. */
function settle<T>(pending: Map<string, Deferred<T>>, key: string, value: T): boolean {
  pending.get(key)?.resolve(value);
  return pending.delete(key);
}

function fail<T>(pending: Map<string, Deferred<T>>, key: string, error: Error): void {
  pending.get(key)?.reject(error);
  pending.delete(key);
}

function capKibOf(capBytes: number): string {
  return String(Math.max(1, Math.floor(capBytes / 1024)));
}
