// Runs system programs that list, copy and compare files, and waits for their end. They run outside every sandbox,
// with a fixed environment. Commands of agents never run this way; they run through the keeper.
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import {
  PREVIEW_PROGRAM_MAX_MS,
  PREVIEW_PROGRAM_OUTPUT_MAX_BYTES,
  PROBE_OUTPUT_MAX_CHARS,
} from "../support/limits.ts";
import { systemCode } from "../support/system-error.ts";

export interface ProgramResult {
  /** null if the program could not be started, printed too much or did not end in time. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface SystemProgramOptions {
  readonly input?: Buffer;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Receives the output piece by piece. With it, nothing is buffered, and `maxBytes` does not apply. */
  readonly onStdout?: (chunk: Buffer) => void;
}

export async function runSystemProgram(
  argv: readonly string[],
  options: SystemProgramOptions = {},
): Promise<ProgramResult> {
  return await runPipeline([argv], options);
}

/**
 * Each program reads the output of the program before it. Succeeds if all programs succeed. If `onStdout` throws,
 * ends the programs and rejects with its error.
 */
export async function runPipeline(
  programs: readonly (readonly string[])[],
  {
    input = Buffer.alloc(0),
    timeoutMs = PREVIEW_PROGRAM_MAX_MS,
    maxBytes = PREVIEW_PROGRAM_OUTPUT_MAX_BYTES,
    onStdout,
  }: SystemProgramOptions = {},
): Promise<ProgramResult> {
  const chunks: Buffer[] = [];
  let size = 0;
  let stderr = "";
  let failure: { readonly error: unknown } | undefined;
  let stdin: Readable | "pipe" = "pipe";
  const children: ChildProcess[] = [];
  for (const [program = "", ...args] of programs) {
    const child: ChildProcess = spawn(program, args, {
      stdio: [stdin, "pipe", "pipe"],
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    children.push(child);
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = `${stderr}${text}`.slice(0, PROBE_OUTPUT_MAX_CHARS);
    });
    // The next program has its own copy of the descriptor. Close ours: otherwise a writer would not detect the end of
    // its reader.
    if (stdin !== "pipe") stdin.destroy();
    stdin = child.stdout ?? "pipe";
  }
  const [first] = children;
  const last = children.at(-1);
  first?.stdin?.on("error", () => {});
  first?.stdin?.end(input);
  const killAll = () => {
    for (const child of children) child.kill("SIGKILL");
  };
  const read = (chunk: Buffer) => {
    if (onStdout) {
      onStdout(chunk);
      return;
    }
    size += chunk.length;
    if (size > maxBytes) killAll();
    else chunks.push(chunk);
  };
  last?.stdout?.on("data", (chunk: Buffer) => {
    if (failure) return;
    // An error thrown by a listener would end the host.
    try {
      read(chunk);
    } catch (error) {
      failure = { error };
      killAll();
    }
  });
  const codes = await Promise.all(children.map(ended));
  if (failure) throw (failure as { readonly error: unknown }).error;
  const failed = codes.find((code) => code !== 0);
  if (typeof failed === "string") stderr ||= failed;
  const code = typeof failed === "string" || size > maxBytes ? null : (failed ?? 0);
  return {
    code: failed === undefined && size <= maxBytes ? 0 : code,
    stdout: Buffer.concat(chunks),
    stderr: stderr.trim(),
  };
}

/** The exit code, or why there is none. */
async function ended(child: ChildProcess): Promise<number | string> {
  return await new Promise((resolve) => {
    child.once("error", (error) => resolve(systemCode(error) ?? error.message));
    child.once("close", (code, signal) => resolve(code ?? `ended by ${signal}`));
  });
}
