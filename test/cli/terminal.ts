// Runs the built program at a pseudo-terminal, with script(1).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { eventually } from "../fixtures/shells.ts";

export interface Terminal {
  /** Everything shown so far. */
  readonly screen: () => string;
  type(text: string): void;
  /** Waits until the text is shown. */
  shows(text: string | RegExp): Promise<void>;
  readonly exitCode: Promise<number | null>;
}

export const CTRL_C = "\x03";

export function atTerminal(line: string, options: { cwd: string; env: NodeJS.ProcessEnv }): Terminal {
  const child = spawn("script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"], {
    ...options,
    env: { TERM: "xterm", SHELL: "/bin/bash", ...options.env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let screen = "";
  child.stdout.on("data", (chunk: Buffer) => {
    screen += chunk.toString();
  });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill("SIGTERM");
    await exited;
  });
  return {
    screen: () => screen,
    type: (text) => void child.stdin.write(text),
    shows: (text) =>
      eventually(() => {
        const found = typeof text === "string" ? screen.includes(text) : text.test(screen);
        if (!found) throw new Error(`not shown yet: ${text}; but: ${screen}`);
      }),
    exitCode: exited.then(([code]) => code),
  };
}
