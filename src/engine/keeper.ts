// The host's side of its keeper: starts it, asks it for slots, and starts another one when it dies.
// Every request is answered or fails; none waits for a keeper that is gone.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import {
  KEEPER_ANSWER_MAX_MS,
  KEEPER_RESTART_WINDOW_MS,
  KEEPER_RESTARTS_MAX_COUNT,
  KEEPER_STOPPED_CHECK_MS,
} from "../support/limits.ts";
import type { ExitRecord } from "./end-record.ts";
import { KeeperLost, type KeeperProcess, startKeeperProcess, TagTaken } from "./keeper-process.ts";
import { KeeperScripts, supervisorFiles } from "./keeper-scripts.ts";
import type { Answer, Hello, ReadySlot } from "./protocol.ts";
import { KEEPER_NAMES } from "./state-dir.ts";
import { TagSpace } from "./tag.ts";

export interface KeeperOptions {
  readonly bashPath: string;
  /** Private to this host: its scripts live here. Removed by the keeper when the host is gone. */
  readonly keeperDir: string;
  /** The hard limit on file locks this process was born with, or undefined where tags must not be used. */
  readonly ownTag: string | undefined;
  /** NAME=VALUE pairs that most commands get. */
  readonly baseEnvironment: readonly string[];
  readonly onExit: (generation: string, record: ExitRecord) => void;
}

export interface SlotRequest {
  readonly dir: string;
  readonly tag: string;
  readonly capBytes: number;
  readonly streams: "split" | "merged";
  /** The whole environment, where it is not the base one. */
  readonly environment: readonly string[] | undefined;
}

interface Opening<T> {
  readonly resolve: (opened: T) => void;
  readonly reject: (error: Error) => void;
}

/** A logger that was started for a running session. */
export interface LoggerProcess {
  readonly pid: number;
  /** The fifo that it reads from; without one, its stdin is a pipe without a name. */
  readonly fifo: string | undefined;
}

export class Keeper {
  readonly #options: KeeperOptions;
  readonly #scripts: KeeperScripts;
  readonly #openings = new Map<string, Opening<ReadySlot>>();
  /** Loggers asked for, by name; they open with their pid. */
  readonly #loggerOpenings = new Map<string, Opening<number>>();
  #process: Promise<KeeperProcess> | undefined;
  #current: KeeperProcess | undefined;
  /** Their deputies answer for the shells until the next one does. */
  readonly #killed: KeeperProcess[] = [];
  #tagSpace: TagSpace | undefined;
  #lastGeneration = 0;
  #lastName = 0;
  #stopped = false;
  #starts: number[] = [];

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#scripts = new KeeperScripts(options.keeperDir);
  }

  /** Starts it unless it runs. */
  async start(): Promise<Hello> {
    if (this.#stopped) throw new NacreError("spawn_failed", "This shell manager has been disposed of.");
    this.#process ??= this.#launch();
    return (await this.#process).hello;
  }

  /** undefined where tags do not work; known once started. */
  get tagSpace(): TagSpace | undefined {
    return this.#tagSpace;
  }

  /** False where its directory was removed. Every request puts it back first. */
  get hasFiles(): boolean {
    return this.#scripts.areInPlace;
  }

  /** The keeper itself restores the rest of its directory with the next request. */
  #restoreFiles(): void {
    if (!this.hasFiles) this.#scripts.place();
  }

  async openSlot(request: SlotRequest): Promise<ReadySlot> {
    await this.start();
    this.#restoreFiles();
    const keeper = this.#current;
    if (!keeper) throw new KeeperLost();
    const generation = String(++this.#lastGeneration);
    const opened = new Promise<ReadySlot>((resolve, reject) => {
      this.#openings.set(generation, { resolve, reject });
    });
    if (request.environment) {
      keeper.send(["env", "once", String(request.environment.length), ...request.environment]);
    }
    const { dir, tag, streams } = request;
    const capKib = capKibOf(request.capBytes);
    keeper.send(["slot", generation, dir, tag, capKib, streams, request.environment ? "once" : "base"]);
    // A slot for the pool keeps no program alive; the caller that waits for a shell does.
    return await this.#answerTo(opened, keeper, (error) => this.#settle(generation, error));
  }

  /** An answer that does not come in time is an error. A stopped keeper is continued meanwhile. */
  async #answerTo<T>(opened: Promise<T>, keeper: KeeperProcess, giveUp: (error: Error) => void): Promise<T> {
    const deadline = monotonicMs() + KEEPER_ANSWER_MAX_MS;
    const timer = setInterval(() => {
      const isStopped = keeper.continueIfStopped();
      if (monotonicMs() > deadline) giveUp(isStopped ? keepsStopping(keeper.hello.pid) : notInTime());
    }, KEEPER_STOPPED_CHECK_MS);
    timer.unref();
    try {
      return await opened;
    } finally {
      clearInterval(timer);
    }
  }

  /** The program that a sandboxed session begins with, and what that reads. */
  get supervisorFiles(): readonly [string, ...string[]] {
    return supervisorFiles(this.#options.keeperDir);
  }

  /** A directory of its own in the keeper's, for what one sandbox is to see; returns its name. */
  async openFolder(): Promise<string> {
    await this.start();
    this.#restoreFiles();
    const name = KEEPER_NAMES.fifoDir(++this.#lastName);
    mkdirSync(this.pathOf(name), { mode: 0o700 });
    return name;
  }

  /**
   * A logger that begins when it is sent an empty line through its stdin, and ends when nobody holds that open. In a
   * folder it has a fifo there; else its stdin is a pipe without a name.
   */
  async openLogger(file: string, capBytes: number, folder?: string): Promise<LoggerProcess> {
    await this.start();
    this.#restoreFiles();
    const keeper = this.#current;
    if (!keeper) throw new KeeperLost();
    const name = KEEPER_NAMES.loggerFifo(++this.#lastName);
    const fifo = folder === undefined ? "" : join(folder, name);
    const opened = new Promise<number>((resolve, reject) => {
      this.#loggerOpenings.set(name, { resolve, reject });
    });
    keeper.send(["log", name, fifo, file, capKibOf(capBytes)]);
    const pid = await this.#answerTo(opened, keeper, (error) => this.#settleLogger(name, error));
    return { pid, fifo: fifo === "" ? undefined : this.pathOf(fifo) };
  }

  /** Of something in the keeper's directory. */
  pathOf(name: string): string {
    return join(this.#options.keeperDir, name);
  }

  /** Ends it; it ends every shell of this host that is not durable. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const keeper = await this.#process?.catch(() => undefined);
    // Where it was killed and no other has come yet, its deputy does it.
    await Promise.all([keeper, ...this.#killed.splice(0)].map((one) => one?.end()));
  }

  async #launch(): Promise<KeeperProcess> {
    const { bashPath, keeperDir, ownTag } = this.#options;
    const restarted = this.#tagSpace;
    this.#starts.push(monotonicMs());
    for (;;) {
      const space = restarted ?? (ownTag === undefined ? undefined : TagSpace.within(ownTag, Math.random()));
      try {
        const keeper = await startKeeperProcess({
          bashPath,
          keeperDir,
          scripts: this.#scripts,
          tag: space ? `${restarted ? "+" : ""}${space.keeperTag}` : "-",
          hostShift: space?.hostShift ?? 0,
          onAnswer: (answer) => this.#take(answer),
          onExit: () => this.#lost(keeper),
        });
        this.#tagSpace = keeper.hello.tagged ? space : undefined;
        this.#current = keeper;
        const { baseEnvironment } = this.#options;
        keeper.send(["env", "base", String(baseEnvironment.length), ...baseEnvironment]);
        // It knows from the disk which shells there are.
        for (const former of this.#killed.splice(0)) former.relieveDeputy();
        return keeper;
      } catch (error) {
        if (error instanceof TagTaken) continue;
        this.#process = undefined;
        throw error;
      }
    }
  }

  #take(answer: Answer): void {
    switch (answer.kind) {
      case "ready": {
        const known = this.#openings.get(answer.generation);
        // Nobody waits for it any more: it must not wait for ever.
        if (!known) killQuietly(answer.commandPid);
        this.#openings.delete(answer.generation);
        known?.resolve(answer);
        break;
      }
      case "failed":
        this.#settle(answer.generation, outOfSomething());
        break;
      case "logging":
        this.#loggerOpenings.get(answer.name)?.resolve(answer.pid);
        this.#loggerOpenings.delete(answer.name);
        break;
      case "no":
        this.#settleLogger(answer.name, outOfSomething());
        break;
      case "exit":
        this.#options.onExit(answer.generation, answer.record);
        break;
    }
  }

  #settle(generation: string, error: Error): void {
    this.#openings.get(generation)?.reject(error);
    this.#openings.delete(generation);
  }

  #settleLogger(name: string, error: Error): void {
    this.#loggerOpenings.get(name)?.reject(error);
    this.#loggerOpenings.delete(name);
  }

  #lost(keeper: KeeperProcess): void {
    if (this.#current !== keeper) return;
    this.#current = undefined;
    this.#process = undefined;
    this.#killed.push(keeper);
    // A shim it forked just before may still answer, through the pipe it inherited.
    const pending = [...this.#openings.keys()];
    const pendingLoggers = [...this.#loggerOpenings.keys()];
    setTimeout(() => {
      for (const generation of pending) this.#settle(generation, new KeeperLost());
      for (const name of pendingLoggers) this.#settleLogger(name, new KeeperLost());
    }, 100);
    this.#revive();
  }

  /** Shells must stay covered, so the next one starts at once; later, if they keep dying. */
  #revive(): void {
    if (this.#stopped) return;
    const since = monotonicMs() - KEEPER_RESTART_WINDOW_MS;
    this.#starts = this.#starts.filter((at) => at > since);
    if (this.#starts.length <= KEEPER_RESTARTS_MAX_COUNT) void this.start().catch(() => this.#revive());
    else setTimeout(() => this.#revive(), KEEPER_RESTART_WINDOW_MS).unref();
  }
}

function capKibOf(capBytes: number): string {
  return String(Math.max(1, Math.floor(capBytes / 1024)));
}

function notInTime(): NacreError {
  return new NacreError(
    "spawn_failed",
    "The keeper did not start a shell in time. Is the limit on processes reached (ulimit -u, pids.max)?",
  );
}

function keepsStopping(pid: number): NacreError {
  return new NacreError(
    "spawn_failed",
    `The keeper (pid ${pid}), which starts all shells, is stopped, and again each time it is continued. What sends it SIGSTOP? End that, then run kill -CONT ${pid}.`,
  );
}

function outOfSomething(): NacreError {
  return new NacreError(
    "spawn_failed",
    "A shell could not be started: the system is out of processes, memory or disk space. End some and try again.",
  );
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}
