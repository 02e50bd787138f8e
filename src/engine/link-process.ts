// Starts the client program of a link (ssh, docker, kubectl, …) with pipes, and the daemon that serves links. These
// processes only copy bytes; the keeper of the remote end runs the commands.
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { messageOf } from "../support/errors.ts";
import { systemCode } from "../support/system-error.ts";
import { within } from "../support/timing.ts";

export interface LinkEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The error code of the system if the program could not be started, for example ENOENT. */
  readonly startError?: string;
}

export interface LinkProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly pid: number | undefined;
  readonly ended: Promise<LinkEnd>;
  kill(): void;
  /** Lets this process exit while the link is open. */
  unref(): void;
}

/**
 * Starts the program in its own session. A Ctrl-C at the terminal must not end the program, because nacre sends the
 * cancel request over the link.
 */
export function startLinkProcess(argv: readonly string[]): LinkProcess {
  const [program = "", ...args] = argv;
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], detached: true });
  } catch (error) {
    return neverStarted(systemCode(error) ?? messageOf(error));
  }
  // Ignore a broken pipe: it also ends the link, and that is reported.
  child.stdin.on("error", () => {});
  // Wait only for the exit: a daemon that the program leaves behind (ssh with ControlPersist) can keep the pipes open.
  const ended = new Promise<LinkEnd>((resolve) => {
    child.once("error", (error) =>
      resolve({ code: null, signal: null, startError: systemCode(error) ?? error.message }),
    );
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const { stdin, stdout, stderr, pid } = child;
  const unref = () => {
    child.unref();
    for (const stream of [stdin, stdout, stderr]) if (stream instanceof Socket) stream.unref();
  };
  return { stdin, stdout, stderr, pid, ended, kill: () => killGroup(child), unref };
}

/**
 * The result if spawn() throws. Node throws some errors instead of emitting them, for example ENOTDIR if an entry of
 * PATH is a file.
 */
function neverStarted(code: string): LinkProcess {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()] as const;
  for (const stream of [stdin, stdout, stderr]) stream.destroy();
  const startError = code === "ENOTDIR" ? "ENOENT" : code;
  const ended = Promise.resolve({ code: null, signal: null, startError });
  return { stdin, stdout, stderr, pid: undefined, ended, kill: () => {}, unref: () => {} };
}

/** Kills the whole group, because the client program may be a script that started the real one. */
function killGroup(child: ChildProcess): void {
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}

/**
 * Starts a process that outlives this one. The process inherits none of our streams: a daemon with the stdout of a
 * link would keep ssh and kubectl open until the daemon ends. Its errors go to `logFile`.
 */
export function startDetached(argv: readonly string[], logFile: string): void {
  const [program = "", ...args] = argv;
  const log = openSync(logFile, "a", 0o600);
  try {
    const child = spawn(program, args, { stdio: ["ignore", "ignore", log], detached: true, cwd: "/" });
    child.on("error", () => {});
    child.unref();
  } finally {
    closeSync(log);
  }
}

export interface ClientResult extends LinkEnd {
  readonly stdout: string;
  readonly stderr: string;
  /** Whether nacre killed the program because it took too long. */
  readonly timedOut: boolean;
}

export interface ClientRun {
  readonly input?: string | undefined;
  /** nacre kills the program after this time, because the server that the program talks to may never answer. */
  readonly maxMs: number;
}

/** Runs a client program (docker, kubectl, sbatch) to its end. */
export async function runClientProgram(
  argv: readonly string[],
  { input = "", maxMs }: ClientRun,
): Promise<ClientResult> {
  const child = startLinkProcess(argv);
  const texts = { stdout: "", stderr: "" };
  const closed = (["stdout", "stderr"] as const).map((name) => {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
    });
    return new Promise<void>((resolve) => child[name].once("close", () => resolve()));
  });
  child.stdin.end(input);
  const all = child.ended.then(async (end) => {
    if (end.startError === undefined) await Promise.all(closed);
    return end;
  });
  const end = await within(maxMs, all);
  if (end === undefined) child.kill();
  return { ...(end ?? { code: null, signal: null }), ...texts, timedOut: end === undefined };
}
