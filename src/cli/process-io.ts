// This process as the CLI sees it: its streams, whether a person sits there, how wide and colourful it may be.
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
    colours: { stdout: wantsColour(stdout, env), stderr: wantsColour(stderr, env) },
    // Asked for each time: a window may be resized while we run.
    get columns() {
      return stdout.isTTY ? stdout.columns || undefined : undefined;
    },
  };
}

/** A command that needs the directory finds by its name that it has gone; the others do not need it. */
function workingDirectory(): string {
  try {
    const cwd = process.cwd();
    // Node puts U+FFFD where a byte is no UTF-8: that may be the name of another directory.
    return cwd.includes("\ufffd") ? linkTarget("/proc/self/cwd") : cwd;
  } catch {
    return `${process.env["PWD"] ?? "/"} (deleted)`;
  }
}

/** Only on a terminal that can show them, and never with NO_COLOR (no-color.org: set, and not empty). */
function wantsColour({ isTTY }: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}
