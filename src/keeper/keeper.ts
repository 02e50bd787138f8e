// The host's side of its keeper: starts it, asks it for slots, and starts another one when it dies.
// Every request is answered or fails; none waits for a keeper that is gone.
import { closeSync, constants, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { ExitRecord } from "../spool/end-record.ts";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import {
  KEEPER_ANSWER_MAX_MS,
  KEEPER_RESTART_WINDOW_MS,
  KEEPER_RESTARTS_MAX_COUNT,
} from "../support/limits.ts";
import { systemCode } from "../support/system-error.ts";
import { KeeperLost, type KeeperProcess, startKeeperProcess, TagTaken } from "./keeper-process.ts";
import { type Answer, encodeFields, type Hello, type ReadySlot } from "./protocol.ts";
import { TagSpace } from "./tag.ts";

export interface KeeperOptions {
  readonly bashPath: string;
  /** Private to this host: fifos live here. Removed by the keeper when the host is gone. */
  readonly keeperDir: string;
  /** The hard limit on file locks this process was born with, or undefined where tags must not be used. */
  readonly ownTag: string | undefined;
  /** NAME=VALUE pairs that most commands get. */
  readonly baseEnvironment: readonly string[];
  readonly onExit: (generation: string, record: ExitRecord) => void;
}

export interface SlotRequest {
  readonly dir: string;
  readonly fifo: string;
  readonly tag: string;
  readonly capBytes: number;
  readonly streams: "split" | "merged";
  /** The whole environment, where it is not the base one. */
  readonly environment: readonly string[] | undefined;
}

export interface Job {
  readonly workingDir: string;
  /** The BASH_ENV the command is to have; "" for none. */
  readonly bashEnv: string;
  /** A file to have as stdin; "" for nothing to read. */
  readonly stdin: string;
  /** NAME=VALUE pairs on top of the slot's environment; names must be shell identifiers. */
  readonly variables: readonly string[];
}

interface Opening<T> {
  readonly resolve: (opened: T) => void;
  readonly reject: (error: Error) => void;
}

export class Keeper {
  readonly #options: KeeperOptions;
  readonly #openings = new Map<string, Opening<ReadySlot>>();
  /** Fifos and loggers asked for, by name; the pid of a logger, 0 for a fifo. */
  readonly #namedOpenings = new Map<string, Opening<number>>();
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

  async openSlot(request: SlotRequest): Promise<ReadySlot> {
    await this.start();
    const keeper = this.#current;
    if (!keeper) throw new KeeperLost();
    const generation = String(++this.#lastGeneration);
    const opened = new Promise<ReadySlot>((resolve, reject) => {
      this.#openings.set(generation, { resolve, reject });
    });
    if (request.environment) {
      keeper.send(["env", "once", String(request.environment.length), ...request.environment]);
    }
    const { dir, fifo, tag, streams } = request;
    const capKib = capKibOf(request.capBytes);
    keeper.send(["slot", generation, dir, fifo, tag, capKib, streams, request.environment ? "once" : "base"]);
    const timer = setTimeout(() => this.#settle(generation, notInTime()), KEEPER_ANSWER_MAX_MS);
    // Whoever waits for a shell keeps the program alive; a slot for the pool is nobody's.
    timer.unref();
    try {
      return await opened;
    } finally {
      clearTimeout(timer);
    }
  }

  /** A directory of its own for fifos, in the keeper's; returns its name. */
  async openFolder(): Promise<string> {
    await this.start();
    const name = `in${++this.#lastName}`;
    mkdirSync(this.fifoPath(name), { mode: 0o700 });
    return name;
  }

  /** A new fifo of a session; returns its path. */
  async openFifo(folder = ""): Promise<string> {
    const name = join(folder, `re${++this.#lastName}`);
    await this.#openNamed(name, ["fifo", name]);
    return this.fifoPath(name);
  }

  /** A logger that begins when it is sent an empty line through its fifo, and ends when nobody holds that open. */
  async openLogger(
    file: string,
    capBytes: number,
    folder = "",
  ): Promise<{ readonly pid: number; readonly fifo: string }> {
    const name = join(folder, `lo${++this.#lastName}`);
    const pid = await this.#openNamed(name, ["log", name, file, capKibOf(capBytes)]);
    return { pid, fifo: this.fifoPath(name) };
  }

  fifoPath(name: string): string {
    return join(this.#options.keeperDir, name);
  }

  async #openNamed(name: string, request: readonly string[]): Promise<number> {
    await this.start();
    const keeper = this.#current;
    if (!keeper) throw new KeeperLost();
    const opened = new Promise<number>((resolve, reject) => {
      this.#namedOpenings.set(name, { resolve, reject });
    });
    keeper.send(request);
    const timer = setTimeout(() => this.#settleNamed(name, notInTime()), KEEPER_ANSWER_MAX_MS);
    try {
      return await opened;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Hands a waiting slot its job; false where nobody waits at that fifo any more. */
  sendJob(fifo: string, job: Job): boolean {
    const { workingDir, bashEnv, stdin, variables } = job;
    const message = Buffer.from(
      encodeFields([workingDir, bashEnv, stdin, String(variables.length), ...variables]),
    );
    let fd: number | undefined;
    try {
      fd = openSync(this.fifoPath(fifo), constants.O_WRONLY | constants.O_NONBLOCK);
      return writeSync(fd, message) === message.length;
    } catch (error) {
      if (["ENXIO", "EPIPE", "ENOENT"].includes(systemCode(error) ?? "")) return false;
      throw error;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
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
      case "fifo":
      case "logging":
        this.#namedOpenings.get(answer.name)?.resolve(answer.kind === "fifo" ? 0 : answer.pid);
        this.#namedOpenings.delete(answer.name);
        break;
      case "no":
        this.#settleNamed(answer.name, outOfSomething());
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

  #settleNamed(name: string, error: Error): void {
    this.#namedOpenings.get(name)?.reject(error);
    this.#namedOpenings.delete(name);
  }

  #lost(keeper: KeeperProcess): void {
    if (this.#current !== keeper) return;
    this.#current = undefined;
    this.#process = undefined;
    this.#killed.push(keeper);
    // A shim it forked just before may still answer, through the pipe it inherited.
    const pending = [...this.#openings.keys()];
    const pendingNames = [...this.#namedOpenings.keys()];
    setTimeout(() => {
      for (const generation of pending) this.#settle(generation, new KeeperLost());
      for (const name of pendingNames) this.#settleNamed(name, new KeeperLost());
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
