// Runs the user's shell once with its profile, to learn the environment that the user works in. The shell gets its own
// session and no terminal. An interactive shell that shared the host's terminal would take the terminal over, and the
// kernel would stop the host.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { messageOf } from "../support/errors.ts";
import { PROBE_OUTPUT_MAX_CHARS, PROFILE_MAX_MS } from "../support/limits.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { allPids, readStat } from "./process-table.ts";

export interface ProfileRun {
  readonly shellPath: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** A private directory for the answer. */
  readonly directory: string;
  /** The text that the shell runs after its profile. It writes the answer to this file. */
  readonly question: (answerFile: string) => string;
  /** @default PROFILE_MAX_MS */
  readonly timeoutMs?: number;
}

export interface ProfileAnswer {
  readonly answer: Buffer;
  /** Why there is no complete answer, or what the profile printed as its last error. */
  readonly problem: string | undefined;
}

export async function runProfile(run: ProfileRun): Promise<ProfileAnswer> {
  let folder: string | undefined;
  try {
    makeDirs(run.directory);
    folder = mkdtempSync(join(run.directory, "profile-"));
    const file = join(folder, "environment");
    const problem = await runShell(run, file);
    return { answer: attempt(() => readFileSync(file)) ?? Buffer.alloc(0), problem };
  } catch (error) {
    return { answer: Buffer.alloc(0), problem: messageOf(error) };
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function runShell(run: ProfileRun, file: string): Promise<string | undefined> {
  const { shellPath, env, workingDir: cwd, timeoutMs = PROFILE_MAX_MS } = run;
  const child = spawn(shellPath, ["-lic", run.question(file)], {
    // A session of its own.
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
    env,
    cwd,
  });
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors = `${errors}${text}`.slice(-PROBE_OUTPUT_MAX_CHARS);
  });
  const end = await new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(`it took longer than ${timeoutMs}ms`), timeoutMs);
    const finish = (problem: string | undefined) => {
      clearTimeout(timer);
      resolve(problem);
    };
    child.once("error", (error) => finish(messageOf(error)));
    // Do not wait for stderr to close: a program that the profile leaves running can keep it open.
    child.once("exit", (code, signal) => {
      if (code === 0) finish(undefined);
      else finish(`it ended with ${signal ?? `exit code ${code}`}${lastLine(errors)}`);
    });
  });
  if (end !== undefined) endSession(child.pid);
  child.stderr?.destroy();
  child.unref();
  return end;
}

function lastLine(errors: string): string {
  const line = errors.trim().split("\n").at(-1) ?? "";
  return line === "" ? "" : `: ${line}`;
}

/** Ends every process in the session of the shell, including the shell. */
function endSession(session: number | undefined): void {
  if (session === undefined) return;
  for (const pid of allPids()) {
    if (readStat(pid)?.session !== session) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has already ended.
    }
  }
}
