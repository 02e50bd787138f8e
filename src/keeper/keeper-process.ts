// One run of keeper.sh: spawns it, waits for its greeting, turns its lines into answers.
// Knows nothing of slots or restarts; keeper.ts does.
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { monotonicMs } from "../support/clock.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { KEEPER_ANSWER_MAX_MS, SPAWN_RETRY_MAX_MS } from "../support/limits.ts";
import { type Answer, encodeFields, type Hello, PROTOCOL_VERSION, parseAnswer } from "./protocol.ts";

const PROGRAM = fileURLToPath(new URL("./keeper.sh", import.meta.url));

export interface KeeperProcessOptions {
  readonly bashPath: string;
  readonly keeperDir: string;
  /** Decimal tag, "+" before it where an earlier keeper of this host had it, or "-" for none. */
  readonly tag: string;
  readonly hostShift: number;
  readonly onAnswer: (answer: Answer) => void;
  readonly onExit: () => void;
}

export interface KeeperProcess {
  readonly hello: Hello;
  send(fields: readonly string[]): void;
  /** Whether this keeper keeps the event loop alive. */
  hold(on: boolean): void;
  /** Closes its stdin, which tells it that the host is gone, and resolves when it has cleaned up. */
  end(): Promise<void>;
}

/** Its number is in use by another host on this machine: draw another. */
export class TagTaken extends Error {}

export async function startKeeperProcess(options: KeeperProcessOptions): Promise<KeeperProcess> {
  const child = await spawnPatiently(options);
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new NacreError("internal", "The keeper was started without pipes.");
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const greeting = new Promise<Answer>((resolve) => {
    forEachLine(stdout, (line) => {
      const answer = parseAnswer(line);
      if (answer.kind === "hello" || answer.kind === "fatal") resolve(answer);
      else options.onAnswer(answer);
    });
  });
  // A write to a keeper that died shows up as its exit; without a listener it would be a crash.
  stdin.on("error", () => {});

  const hello = await firstOf(greeting, exited);
  if (hello.kind !== "hello") {
    stdin.destroy();
    if (hello.kind === "fatal" && hello.reason === "tag-taken") throw new TagTaken();
    const reason = hello.kind === "fatal" ? hello.reason : "it ended before it could greet";
    throw new NacreError("spawn_failed", `The keeper did not start: ${reason}.`);
  }
  if (hello.version !== PROTOCOL_VERSION) {
    stdin.destroy();
    throw new NacreError("internal", `The keeper speaks version ${hello.version}, not ${PROTOCOL_VERSION}.`);
  }
  void exited.then(options.onExit);

  return {
    hello,
    send: (fields) => void stdin.write(encodeFields(fields)),
    hold: (on) => {
      for (const handle of [child, stdin, stdout] as readonly { ref?(): void; unref?(): void }[]) {
        if (on) handle.ref?.();
        else handle.unref?.();
      }
    },
    end: () => {
      stdin.end();
      return exited;
    },
  };
}

/** The system may be out of processes or descriptors for a moment: that is no reason to fail at once. */
async function spawnPatiently(options: KeeperProcessOptions): Promise<ChildProcess> {
  const deadline = monotonicMs() + SPAWN_RETRY_MAX_MS;
  for (let pause = 20; ; pause *= 2) {
    try {
      return await spawnOnce(options);
    } catch (cause) {
      const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
      const passing = ["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"].includes(code);
      if (passing && monotonicMs() + pause < deadline) {
        await new Promise((resolve) => setTimeout(resolve, pause));
        continue;
      }
      throw new NacreError("spawn_failed", explain(code, cause, options.bashPath), { cause });
    }
  }
}

function spawnOnce(options: KeeperProcessOptions): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      options.bashPath,
      ["--noprofile", "--norc", PROGRAM, options.keeperDir, options.tag, String(options.hostShift)],
      {
        argv0: "nacre-keeper",
        // A session of its own: Ctrl-C at the terminal must not reach it.
        detached: true,
        // A clean environment: nothing of the host's can be read from the keeper or its shims.
        env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
        // The host's own directory may be gone, or be unmounted some day.
        cwd: "/",
        stdio: ["pipe", "pipe", "ignore"],
      },
    );
    child.once("error", reject);
    child.once("spawn", () => resolve(child));
  });
}

function explain(code: string, cause: unknown, bashPath: string): string {
  switch (code) {
    case "EAGAIN":
      return "No process could be started: the limit on processes is reached (ulimit -u, or pids.max of the cgroup). End some and try again.";
    case "EMFILE":
    case "ENFILE":
      return "No process could be started: this process has too many files open (ulimit -n). Close some and try again.";
    case "ENOENT":
      return `No process could be started: ${bashPath} does not exist.`;
    case "EACCES":
      return `No process could be started: ${bashPath} is not executable.`;
    default:
      return `No process could be started: ${messageOf(cause)}`;
  }
}

async function firstOf(greeting: Promise<Answer>, exited: Promise<void>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const silent = (reason: string): Answer => ({ kind: "fatal", reason });
  try {
    return await Promise.race([
      greeting,
      // Its last words may still be in the pipe when the exit is reported.
      exited.then(() => Promise.race([greeting, afterTurns(silent("it ended before it could greet"))])),
      new Promise<Answer>((resolve) => {
        timer = setTimeout(() => resolve(silent("it did not greet in time")), KEEPER_ANSWER_MAX_MS);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

function afterTurns<T>(value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value), 50));
}

function forEachLine(stream: NodeJS.ReadableStream, use: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("latin1");
  stream.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) use(line);
  });
  stream.on("error", () => {});
}
