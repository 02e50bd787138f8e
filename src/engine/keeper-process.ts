// One run of keeper.sh: puts its scripts in place, spawns it, waits for its greeting, turns its lines into answers.
// Knows nothing of slots or restarts; keeper.ts does.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { KEEPER_ANSWER_MAX_MS, KEEPER_STOPPED_CHECK_MS } from "../support/limits.ts";
import { patiently } from "../support/patience.ts";
import { systemCode } from "../support/system-error.ts";
import { type KeeperScripts, keeperProgram } from "./keeper-scripts.ts";
import { type Answer, encodeFields, type Hello, PROTOCOL_VERSION, parseAnswer } from "./protocol.ts";

const LIFELINE_FD = 3;

export interface KeeperProcessOptions {
  readonly bashPath: string;
  readonly keeperDir: string;
  /** Its own, for this directory. */
  readonly scripts: KeeperScripts;
  /** Decimal tag, "+" before it where an earlier keeper of this host had it, or "-" for none. */
  readonly tag: string;
  readonly hostShift: number;
  readonly onAnswer: (answer: Answer) => void;
  readonly onExit: () => void;
}

export interface KeeperProcess {
  readonly hello: Hello;
  send(fields: readonly string[]): void;
  /**
   * Closes its stdin, which tells it that the host is gone, and resolves when it has cleaned up; or, where it
   * was killed, its deputy has.
   */
  end(): Promise<void>;
  /** Whether it is stopped (SIGSTOP), as a command of the same user can do. If so, continues it. */
  continueIfStopped(): boolean;
  /** It was killed, and another one is at work: its deputy (deputy.sh) may go. */
  relieveDeputy(): void;
}

/** It died. What it was asked for may be asked again, of the next one. */
export class KeeperLost extends NacreError {
  constructor() {
    super("spawn_failed", "The keeper, which starts all shells, was killed. Is something killing bash?");
  }
}

/** Its number is in use by another host on this machine: draw another. */
export class TagTaken extends Error {}

export async function startKeeperProcess(options: KeeperProcessOptions): Promise<KeeperProcess> {
  const child = await patiently(() => spawnOnce(options)).catch((cause: unknown) => {
    if (cause instanceof NacreError) throw cause;
    throw new NacreError("spawn_failed", explain(cause, options.bashPath), { cause });
  });
  const { stdin, stdout } = child;
  const lifeline = lifelineOf(child);
  if (!stdin || !stdout || !lifeline)
    throw new NacreError("internal", "The keeper was started without pipes.");
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let tellGone = () => {};
  const gone = new Promise<void>((resolve) => {
    tellGone = resolve;
  });
  const greeting = new Promise<Answer>((resolve) => {
    forEachLine(stdout, (line) => {
      const answer = parseAnswer(line);
      if (answer.kind === "hello" || answer.kind === "fatal") resolve(answer);
      else if (answer.kind === "gone") tellGone();
      else options.onAnswer(answer);
    });
  });
  // Told by the deputy, as the keeper would have; its end says the same.
  const deputyGone = new Promise<void>((resolve) => {
    forEachLine(lifeline, () => resolve());
    lifeline.once("close", resolve);
  });
  // A write to a keeper that died shows up as its exit; without a listener it would be a crash.
  stdin.on("error", () => {});

  const hello = await firstOf(greeting, exited, options.bashPath);
  if (hello.kind !== "hello") {
    giveUp(child);
    if (hello.kind === "fatal" && hello.reason === "tag-taken") throw new TagTaken();
    if (hello.kind !== "fatal" && child.signalCode !== null) throw new KeeperLost();
    const ended = `${options.bashPath} ended (code ${child.exitCode}) before it could greet. Is it bash?`;
    throw new NacreError(
      "spawn_failed",
      `The keeper did not start: ${hello.kind === "fatal" ? hello.reason : ended}`,
    );
  }
  if (hello.version !== PROTOCOL_VERSION) {
    giveUp(child);
    throw new NacreError("internal", `The keeper speaks version ${hello.version}, not ${PROTOCOL_VERSION}.`);
  }
  void exited.then(options.onExit);
  // Whoever waits for something keeps the program alive, not the keeper.
  for (const handle of [child, stdin, stdout, lifeline] as readonly { unref?(): void }[]) handle.unref?.();

  return {
    hello,
    send: (fields) => void stdin.write(encodeFields(fields)),
    end: async () => {
      stdin.end();
      const timer = setInterval(() => continueIfStopped(child), KEEPER_STOPPED_CHECK_MS);
      // With durable shells it stays, to keep their deadlines.
      await Promise.race([exited, gone]);
      clearInterval(timer);
      lifeline.end();
      await Promise.race([gone, deputyGone, afterMs(KEEPER_ANSWER_MAX_MS, undefined)]);
      lifeline.destroy();
      stdout.destroy();
    },
    continueIfStopped: () => continueIfStopped(child),
    relieveDeputy: () => void relieve(child),
  };
}

function continueIfStopped(child: ChildProcess): boolean {
  // Its pid stays its own until Node has heard of its end.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return false;
  const stat = attempt(() => readFileSync(`/proc/${child.pid}/stat`, "latin1")) ?? "";
  if (!/^[Tt] /.test(stat.slice(stat.lastIndexOf(")") + 2))) return false;
  child.kill("SIGCONT");
  return true;
}

/** Whatever it is that did not greet, it must not stay behind. It leads a group of its own. */
function giveUp(child: ChildProcess): void {
  relieve(child);
  child.stdin?.destroy();
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Any word will do. Without one its end says that the host is dead, and all shells with it. */
function relieve(child: ChildProcess): void {
  lifelineOf(child)
    ?.unref()
    .end(encodeFields(["relieved"]));
}

/** What a deputy hears the end of this process by: nobody else has this side of it open. */
function lifelineOf(child: ChildProcess): Socket | undefined {
  return (child.stdio[LIFELINE_FD] as Socket | null | undefined) ?? undefined;
}

function spawnOnce(options: KeeperProcessOptions): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    options.scripts.place();
    const child = spawn(
      options.bashPath,
      [
        "--noprofile",
        "--norc",
        keeperProgram(options.keeperDir),
        options.bashPath,
        options.keeperDir,
        options.tag,
        String(options.hostShift),
        String(LIFELINE_FD),
      ],
      {
        argv0: "nacre-keeper",
        // A session of its own: Ctrl-C at the terminal must not reach it.
        detached: true,
        // A clean environment: nothing of the host's can be read from the keeper or its shims.
        // The system's own programs first: what a command may have put into /usr/local/bin is not run in their place.
        env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/local/sbin", LC_ALL: "C" },
        // The host's own directory may be gone, or be unmounted some day.
        cwd: "/",
        stdio: ["pipe", "pipe", "ignore", "pipe"],
      },
    );
    child.once("error", reject);
    child.once("spawn", () => resolve(child));
  });
}

function explain(cause: unknown, bashPath: string): string {
  switch (systemCode(cause)) {
    case "ENOENT":
      return `No process could be started: ${bashPath} does not exist.`;
    case "EACCES":
      return `No process could be started: ${bashPath} is not executable.`;
    default:
      return `No process could be started: ${messageOf(cause)}`;
  }
}

async function firstOf(greeting: Promise<Answer>, exited: Promise<void>, bashPath: string): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      greeting,
      // Its last words may still be in the pipe when the exit is reported.
      exited.then(() => Promise.race([greeting, afterMs(50, { kind: "unknown", line: "" } as const)])),
      new Promise<Answer>((resolve) => {
        const silent = { kind: "fatal", reason: `${bashPath} did not greet in time. Is it bash?` } as const;
        timer = setTimeout(() => resolve(silent), KEEPER_ANSWER_MAX_MS);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

function afterMs<T>(ms: number, value: T): Promise<T> {
  // Who waits for it keeps the program alive.
  return new Promise((resolve) => setTimeout(() => resolve(value), ms).unref());
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
