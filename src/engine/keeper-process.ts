// One run of keeper.sh: writes its scripts, spawns it, waits for its greeting, parses its answers. Knows nothing of slots
// or restarts; keeper.ts does.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { KEEPER_ANSWER_MAX_MS, KEEPER_LAST_ANSWERS_MS, KEEPER_STOPPED_CHECK_MS } from "../support/limits.ts";
import { patiently } from "../support/patience.ts";
import { systemCode } from "../support/system-error.ts";
import { deferred, within } from "../support/timing.ts";
import { type KeeperScripts, keeperProgram } from "./keeper-scripts.ts";
import { isStopped } from "./process-table.ts";
import { type Answer, encodeFields, type Hello, PROTOCOL_VERSION, parseAnswer } from "./protocol.ts";
import { sendSignal } from "./signals.ts";

const LIFELINE_FD = 3;

export interface KeeperProcessOptions {
  readonly bashPath: string;
  readonly keeperDir: string;
  readonly scripts: KeeperScripts;
  /** The tag in decimal, with "+" before it if an earlier keeper of this host had it; "-" for none. */
  readonly tag: string;
  readonly hostShift: number;
  readonly onAnswer: (answer: Answer) => void;
  readonly onExit: () => void;
}

export interface KeeperProcess {
  readonly hello: Hello;
  send(fields: readonly string[]): void;
  /**
   * Closes its stdin, which signals that the host is gone. Resolves when the keeper has cleaned up, or its deputy if the
   * keeper was killed.
   */
  end(): Promise<void>;
  /** Whether it is stopped (SIGSTOP), as a command of the same user can do. If so, continues it. */
  continueIfStopped(): boolean;
  /** It was killed and another keeper is at work: its deputy (deputy.sh) may exit. */
  relieveDeputy(): void;
}

/** The keeper died. The caller may repeat its request to the next one. */
export class KeeperLost extends NacreError {
  constructor() {
    super("spawn_failed", "The keeper, which starts all shells, was killed. Is something killing bash?");
  }
}

/** Another host on this machine uses its number: draw another. */
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
  const gone = deferred();
  const greeting = deferred<Answer>();
  forEachLine(stdout, (line) => {
    const answer = parseAnswer(line);
    if (answer.kind === "hello" || answer.kind === "fatal") greeting.resolve(answer);
    else if (answer.kind === "gone") gone.resolve();
    else options.onAnswer(answer);
  });
  // The deputy reports through the lifeline that it has cleaned up; its exit means the same.
  const deputyGone = deferred();
  forEachLine(lifeline, () => deputyGone.resolve());
  lifeline.once("close", deputyGone.resolve);
  // A write to a dead keeper shows up as its exit; without a listener it would crash this process.
  stdin.on("error", () => {});

  const hello = await helloOf(child, await firstAnswer(greeting.promise, exited, options.bashPath), options);
  void exited.then(options.onExit);
  // A caller that waits keeps the program alive (event-loop-hold.ts), not the keeper.
  for (const handle of [child, stdin, stdout, lifeline] as readonly { unref?(): void }[]) handle.unref?.();

  return {
    hello,
    send: (fields) => void stdin.write(encodeFields(fields)),
    end: async () => {
      stdin.end();
      const timer = setInterval(() => continueIfStopped(child), KEEPER_STOPPED_CHECK_MS);
      // With durable shells it reports "gone" and stays, to keep their deadlines.
      await Promise.race([exited, gone.promise]);
      clearInterval(timer);
      lifeline.end();
      await within(KEEPER_ANSWER_MAX_MS, Promise.race([gone.promise, deputyGone.promise]));
      lifeline.destroy();
      stdout.destroy();
    },
    continueIfStopped: () => continueIfStopped(child),
    relieveDeputy: () => relieve(child),
  };
}

/** Throws, and ends the child, if it is no keeper that this host can use. */
async function helloOf(
  child: ChildProcess,
  answer: Answer,
  { bashPath }: KeeperProcessOptions,
): Promise<Hello> {
  if (answer.kind === "hello" && answer.version === PROTOCOL_VERSION) return answer;
  giveUp(child);
  if (answer.kind === "hello")
    throw new NacreError("internal", `The keeper speaks version ${answer.version}, not ${PROTOCOL_VERSION}.`);
  if (answer.kind === "fatal" && answer.reason === "tag-taken") throw new TagTaken();
  if (answer.kind !== "fatal" && child.signalCode !== null) throw new KeeperLost();
  const ended = `${bashPath} ended (code ${child.exitCode}) before it could greet. Is it bash?`;
  throw new NacreError(
    "spawn_failed",
    `The keeper did not start: ${answer.kind === "fatal" ? answer.reason : ended}`,
  );
}

function continueIfStopped(child: ChildProcess): boolean {
  // The PID is not reused before Node has reaped the child.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return false;
  const { pid } = child;
  return attempt(() => isStopped(pid)) === true && child.kill("SIGCONT");
}

/** A child without a greeting must not stay behind. It leads a process group of its own. */
function giveUp(child: ChildProcess): void {
  relieve(child);
  child.stdin?.destroy();
  if (child.pid !== undefined) sendSignal(-child.pid, "SIGKILL");
}

/** Any field will do. Without one, the end of the lifeline means that the host is dead and its shells must end. */
function relieve(child: ChildProcess): void {
  lifelineOf(child)
    ?.unref()
    .end(encodeFields(["relieved"]));
}

/** Its end tells the deputy that this process is dead: no other process has this end of the pipe open. */
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
        // A clean environment: no variable of the host can be read from the keeper or its shims. System programs come
        // first in PATH: a program that a command has put into /usr/local/bin must not replace them.
        env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/local/sbin", LC_ALL: "C" },
        // The host's directory can be removed or unmounted.
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

async function firstAnswer(
  greeting: Promise<Answer>,
  exited: Promise<void>,
  bashPath: string,
): Promise<Answer> {
  // Its last answer can still be in the pipe when Node reports the exit.
  const nothing = { kind: "unknown", line: "" } as const;
  const last = exited.then(async () => (await within(KEEPER_LAST_ANSWERS_MS, greeting)) ?? nothing);
  const silent = { kind: "fatal", reason: `${bashPath} did not greet in time. Is it bash?` } as const;
  return (await within(KEEPER_ANSWER_MAX_MS, Promise.race([greeting, last]))) ?? silent;
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
