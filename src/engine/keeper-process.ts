// Runs one keeper process: writes the scripts, spawns keeper.sh, waits for its greeting and parses its answers.
// keeper.ts handles slots and restarts.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { KEEPER_ANSWER_MAX_MS, KEEPER_LAST_ANSWERS_MS, KEEPER_STOPPED_CHECK_MS } from "../support/limits.ts";
import { retryShortage } from "../support/retry-shortage.ts";
import { systemCode } from "../support/system-error.ts";
import { deferred, within } from "../support/timing.ts";
import type { HostKey } from "./host-key.ts";
import { type KeeperScripts, keeperProgram } from "./keeper-scripts.ts";
import { isStopped, pidNamespace } from "./process-table.ts";
import { type Answer, encodeFields, type Hello, PROTOCOL_VERSION, parseAnswer } from "./protocol.ts";
import { sendSignal } from "./signals.ts";
import type { TagSpace } from "./tag.ts";

const LIFELINE_FD = 3;

export interface KeeperProcessOptions {
  readonly bashPath: string;
  readonly keeperDir: string;
  readonly scripts: KeeperScripts;
  /** The tag in decimal, with "+" before it if an earlier keeper of this host had it; "-" for none. */
  readonly tag: string;
  readonly hostShift: number;
  /** The key of this host (host-key.ts). */
  readonly key?: HostKey | undefined;
  readonly onAnswer: (answer: Answer) => void;
  readonly onExit: () => void;
}

export interface KeeperProcess {
  readonly hello: Hello;
  send(fields: readonly string[]): void;
  /**
   * Closes the keeper's stdin, which signals that the host is gone. Resolves when the keeper has cleaned up. If the
   * keeper was killed, its deputy cleans up instead. `isClean`: no command has left a process, so the keeper must end
   * only the slots that wait for a job.
   */
  end(isClean?: boolean): Promise<void>;
  /**
   * Continues the keeper if it is stopped, and returns whether it was. A command of the same user can send SIGSTOP to
   * it.
   */
  continueIfStopped(): boolean;
  /** Lets the deputy (deputy.sh) of a killed keeper exit. Call this once another keeper is running. */
  relieveDeputy(): void;
}

/** `isRestarted`: an earlier keeper of this host had the same tag. */
export function keeperTagOptions(
  space: TagSpace | undefined,
  isRestarted: boolean,
): Pick<KeeperProcessOptions, "tag" | "hostShift" | "key"> {
  if (!space) return { tag: "-", hostShift: 0 };
  const { keeperTag, hostShift, key } = space;
  return { tag: `${isRestarted ? "+" : ""}${keeperTag}`, hostShift, key };
}

/** The keeper died. The caller may repeat its request to the next keeper. */
export class KeeperLost extends NacreError {
  constructor() {
    super("spawn_failed", "The keeper, which starts all shells, was killed. Is something killing bash?");
  }
}

/** Another host on this machine already uses this random host number. The caller picks another one. */
export class TagTaken extends Error {}

/** The kernel does not preserve the host's key (host-key.ts). The caller starts the keeper without one. */
export class KeyRefused extends Error {}

export async function startKeeperProcess(options: KeeperProcessOptions): Promise<KeeperProcess> {
  const child = await retryShortage(() => spawnOnce(options)).catch((cause: unknown) => {
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
  // When the deputy has cleaned up, it writes a line to the lifeline. If the deputy exits without a line, the
  // lifeline closes. Both mean that the deputy is done.
  const deputyGone = deferred();
  forEachLine(lifeline, () => deputyGone.resolve());
  lifeline.once("close", deputyGone.resolve);
  // Ignore failed writes: the keeper is dead, and its exit event reports that. Without a listener, the error would
  // crash this process.
  stdin.on("error", () => {});

  const hello = await helloOf(child, await firstAnswer(greeting.promise, exited, options.bashPath), options);
  void exited.then(options.onExit);
  // The keeper must not keep this process alive. A caller that waits keeps the process alive itself
  // (event-loop-hold.ts).
  for (const handle of [child, stdin, stdout, lifeline] as readonly { unref?(): void }[]) handle.unref?.();

  return {
    hello,
    send: (fields) => void stdin.write(encodeFields(fields)),
    end: async (isClean = false) => {
      stdin.end(isClean ? encodeFields(["clean"]) : "");
      const timer = setInterval(() => continueIfStopped(child), KEEPER_STOPPED_CHECK_MS);
      // If there are durable shells, the keeper reports "gone" and stays to enforce their deadlines.
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

/** Ends the child and throws if this host cannot use it as a keeper. */
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
  if (answer.kind === "fatal" && answer.reason === "no-key") throw new KeyRefused();
  if (answer.kind !== "fatal" && child.signalCode !== null) throw new KeeperLost();
  const ended = `${bashPath} ended (code ${child.exitCode}) before it could greet. Is it bash?`;
  throw new NacreError(
    "spawn_failed",
    `The keeper did not start: ${answer.kind === "fatal" ? answer.reason : ended}`,
  );
}

function continueIfStopped(child: ChildProcess): boolean {
  // The kernel does not reuse the PID before Node has reaped the child.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return false;
  const { pid } = child;
  return attempt(() => isStopped(pid)) === true && child.kill("SIGCONT");
}

/** Kills a child that sent no usable greeting. It leads its own process group. */
function giveUp(child: ChildProcess): void {
  relieve(child);
  child.stdin?.destroy();
  if (child.pid !== undefined) sendSignal(-child.pid, "SIGKILL");
}

/**
 * Sends a field, whose text does not matter, before the lifeline closes. Without the field, the deputy would conclude
 * from the closed lifeline that the host is dead, and would end the host's shells.
 */
function relieve(child: ChildProcess): void {
  lifelineOf(child)
    ?.unref()
    .end(encodeFields(["relieved"]));
}

/**
 * The host's end of the lifeline. When it closes, the deputy concludes that this process is dead, because no other
 * process has this end open.
 */
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
        options.key ? `${options.key.kib}/${options.key.shift}` : "-",
        pidNamespace(),
        String(LIFELINE_FD),
      ],
      {
        argv0: "nacre-keeper",
        // Start a new session, so that Ctrl-C at the terminal does not reach the keeper.
        detached: true,
        // Use a clean environment, so that no process can read the host's variables from the environment of the
        // keeper or a shim. System directories come first in PATH: a program that a command has put into
        // /usr/local/bin must not replace a system program.
        env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/local/sbin", LC_ALL: "C" },
        // Do not use the host's directory, which can be removed or unmounted.
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
  // The keeper's last answer can still be in the pipe when Node reports the exit.
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
