// Runs a program that probes the system, with files as its descriptors, and waits for its end. Commands of agents
// never run this way; they run through the keeper.
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { PROBE_MAX_MS, PROBE_OUTPUT_MAX_CHARS } from "../support/limits.ts";
import { systemCode } from "../support/system-error.ts";

export interface OpenFile {
  readonly fd: number;
  readonly path: string;
  readonly mode: "read" | "write";
}

export interface RunOnceResult {
  /** null if the program could not be started or did not end in time. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runOnce(
  argv: readonly string[],
  files: readonly OpenFile[] = [],
): Promise<RunOnceResult> {
  const [program = "", ...args] = argv;
  const opened: number[] = [];
  try {
    const stdio: ("ignore" | "pipe" | number)[] = ["ignore", "pipe", "pipe"];
    for (const { fd, path, mode } of files) {
      while (stdio.length <= fd) stdio.push("ignore");
      stdio[fd] = openSync(path, mode === "read" ? "r" : "w", 0o600);
      opened.push(Number(stdio[fd]));
    }
    return await new Promise((resolve) => {
      const child = spawn(program, args, {
        stdio,
        cwd: "/",
        env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
        timeout: PROBE_MAX_MS,
        killSignal: "SIGKILL",
      });
      const printed = { stdout: "", stderr: "" };
      for (const stream of ["stdout", "stderr"] as const)
        child[stream]?.setEncoding("utf8").on("data", (text: string) => {
          printed[stream] = `${printed[stream]}${text}`.slice(0, PROBE_OUTPUT_MAX_CHARS);
        });
      child.once("error", (error) =>
        resolve({ code: null, stdout: "", stderr: systemCode(error) ?? error.message }),
      );
      child.once("close", (code) => resolve({ code, stdout: printed.stdout, stderr: printed.stderr.trim() }));
    });
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}
