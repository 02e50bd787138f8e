// The streams and terminal properties of this process for the CLI.
import { linkTarget } from "../support/path-text.ts";
import type { CliIo } from "./cli-io.ts";

export function processIo(abandonOutput: () => void): CliIo {
  const { stdin, stdout, stderr, env } = process;
  return {
    stdin,
    stdout,
    stderr,
    abandonOutput,
    cwd: workingDirectory(),
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    colors: { stdout: wantsColor(stdout, env), stderr: wantsColor(stderr, env) },
    // Read each time: the window may be resized while nacre runs.
    get columns() {
      return stdout.isTTY ? stdout.columns || undefined : undefined;
    },
  };
}

/**
 * If the working directory was removed, returns a name that does not exist. Commands that need the directory then fail,
 * and the error names it.
 */
function workingDirectory(): string {
  try {
    const cwd = process.cwd();
    // Node replaces bytes that are not UTF-8 with U+FFFD, which can result in the name of another directory.
    return cwd.includes("\ufffd") ? linkTarget("/proc/self/cwd") : cwd;
  } catch {
    return `${process.env["PWD"] ?? "/"} (deleted)`;
  }
}

/** Colors need a capable terminal. NO_COLOR turns them off if it is not empty (no-color.org). */
function wantsColor({ isTTY }: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}
