// The disk as a sandbox sees it: a worker inside the sandbox runs the operations. Starts the worker at the first
// request, and again after the worker has died. Ends the worker after some time without requests. Requests run one at
// a time. If the worker does not answer, the current request times out.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ConfinedWorker } from "../../shell/confined-worker.ts";
import type { ShellManager } from "../../shell-manager.ts";
import { messageOf, NacreError } from "../../support/errors.ts";
import { holdEventLoop } from "../../support/event-loop-hold.ts";
import {
  FILE_WORKER_ANSWER_MAX_BYTES,
  FILE_WORKER_ANSWER_MAX_MS,
  FILE_WORKER_IDLE_MS,
  STREAM_CAP_BYTES,
} from "../../support/limits.ts";
import { Semaphore } from "../../support/semaphore.ts";
import { type Deferred, deferred, within } from "../../support/timing.ts";
import type { Disk, StoreRequest } from "../disk/disk.ts";
import { readLoadAnswer, readLocated, readMessage, readStoreAnswer } from "./answers.ts";
import { encodeFrame, FrameReader } from "./frames.ts";

type Message = ReturnType<typeof readMessage>;

/** One running worker, and the request that waits for its answer. */
class Connection {
  readonly #reader = new FrameReader(FILE_WORKER_ANSWER_MAX_BYTES);
  #worker: ConfinedWorker | undefined;
  #waiting: { readonly id: number; readonly answer: Deferred<Message> } | undefined;
  #hasEnded = false;
  #lastId = 0;

  get isOpen(): boolean {
    return this.#worker !== undefined && !this.#hasEnded;
  }

  async open(manager: ShellManager, workspace: string, scope: string): Promise<void> {
    const { engine, confiner } = manager;
    this.#worker = await ConfinedWorker.start(
      { engine, confiner },
      {
        workspace,
        scope,
        program: workerProgram(),
        capBytes: STREAM_CAP_BYTES,
        onAnswer: (bytes) => this.#take(bytes),
        onEnd: () => this.#fail(new Error("it ended")),
      },
    );
  }

  async ask(operation: string, argument: unknown): Promise<Message> {
    const id = ++this.#lastId;
    const answer = deferred<Message>();
    this.#waiting = { id, answer };
    this.#worker?.send(encodeFrame({ id, operation, argument }));
    const message = await within(FILE_WORKER_ANSWER_MAX_MS, answer.promise);
    this.#waiting = undefined;
    if (message) return message;
    throw this.#fail(new Error(`it did not answer within ${FILE_WORKER_ANSWER_MAX_MS / 1000} s`));
  }

  close(): void {
    this.#hasEnded = true;
    this.#worker?.end();
  }

  #take(bytes: Buffer): void {
    try {
      for (const given of this.#reader.push(bytes)) {
        const message = readMessage(given);
        // Ignore an answer to any other request.
        if (message.id === this.#waiting?.id) this.#waiting.answer.resolve(message);
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(cause: unknown): NacreError {
    const words = `The file worker in the sandbox failed: ${messageOf(cause)}. The next call starts a new one.`;
    const error = new NacreError("internal", words, { cause });
    this.#waiting?.answer.reject(error);
    this.close();
    return error;
  }
}

export class WorkerDisk implements Disk {
  readonly #manager: ShellManager;
  readonly #workspace: string;
  readonly #scope: string;
  readonly #turn = new Semaphore(1);
  #connection: Connection | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(manager: ShellManager, workspace: string, scope: string) {
    this.#manager = manager;
    this.#workspace = workspace;
    this.#scope = scope;
  }

  async locate(path: string) {
    return await this.#ask("locate", path, readLocated);
  }

  async load(real: string) {
    return await this.#ask("load", real, readLoadAnswer);
  }

  async store(request: StoreRequest) {
    return await this.#ask("store", request, readStoreAnswer);
  }

  async #ask<T>(operation: string, argument: unknown, read: (value: unknown) => T): Promise<T> {
    using _turn = await this.#turn.take();
    using _hold = holdEventLoop();
    clearTimeout(this.#idle);
    try {
      const connection = await this.#open();
      const { value, error } = await connection.ask(operation, argument);
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return readChecked(read, value);
    } finally {
      this.#idle = setTimeout(() => this.#connection?.close(), FILE_WORKER_IDLE_MS).unref();
    }
  }

  async #open(): Promise<Connection> {
    if (this.#connection?.isOpen) return this.#connection;
    const connection = new Connection();
    this.#connection = connection;
    await connection.open(this.#manager, this.#workspace, this.#scope);
    return connection;
  }
}

function readChecked<T>(read: (value: unknown) => T, value: unknown): T {
  try {
    return read(value);
  } catch (cause) {
    throw new NacreError("internal", "The file worker in the sandbox sent an answer that makes no sense.", {
      cause,
    });
  }
}

let program: string | undefined;

/** The bundled program of the worker. When nacre runs from source, this is the program of the last build. */
function workerProgram(): string {
  const paths = ["../../files/worker.cjs", "../files/worker.cjs", "../../../dist/files/worker.cjs"].map(
    (path) => fileURLToPath(new URL(path, import.meta.url)),
  );
  const found = paths.find((path) => existsSync(path));
  if (found === undefined)
    throw new NacreError(
      "internal",
      `The program of the file worker is missing: ${paths[0]}. Install nacre again.`,
    );
  program ??= `// nacre: the file tools in this sandbox\n${readFileSync(found, "utf8")}`;
  return program;
}
