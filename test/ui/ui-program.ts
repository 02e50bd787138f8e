// Runs `nacre ui` in a separate process with a new state root for each test. Runs other commands with that state root.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import { useLeakProof } from "../fixtures/leak-proof.ts";

export const program = join(dirname(fileURLToPath(import.meta.url)), "../../dist/cli/main.js");

export interface UiProgram {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly redirectFile: string;
  /** The address with the token, from the redirect file. */
  readonly link: string;
  readonly pid: number;
  /** The program's output so far. */
  readonly printed: () => string;
  /** Sends a request with the token. */
  api(path: string, options?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

export interface UiTest {
  /** The working directory of commands. */
  readonly dir: string;
  readonly home: string;
  ui(...words: string[]): Promise<UiProgram>;
  /** Runs nacre, and returns what it prints to stdout. */
  nacre(...words: string[]): string;
  /** Starts a background shell, and returns its id. */
  start(command: string, ...words: string[]): string;
  /** Starts a background shell with a terminal, and returns its id. */
  terminal(command: string, ...words: string[]): string;
  /** Creates an approval request, and returns its id. */
  request(command?: string): string;
}

/** Call once per test file. */
export function useUi(): () => UiTest {
  const directory = useLeakProof();
  const children: ChildProcess[] = [];
  const tests: UiTest[] = [];

  afterEach(async () => {
    for (const { nacre } of tests.splice(0)) nacre("kill", "--all");
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGTERM");
      await once(child, "exit");
    }
  });

  return () => {
    const base = directory();
    const dir = join(base, "work");
    mkdirSync(dir);
    const home = join(base, "state");
    const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: base, NACRE_HOME: home };
    const nacre = (...words: string[]) => {
      try {
        return execFileSync(process.execPath, [program, ...words], {
          cwd: dir,
          env,
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"],
        });
      } catch (error) {
        return String((error as { stdout?: unknown }).stdout ?? "");
      }
    };
    const test: UiTest = {
      dir,
      home,
      nacre,
      start: (command, ...words) => nacre("run", "-b", ...words, command).trim(),
      terminal: (command, ...words) =>
        nacre("run", "-b", "--terminal", "--policy", "off", ...words, command).trim(),
      request: (command = "git clean -fdx") => JSON.parse(nacre("run", "--json", command)).approval_id,
      ui: async (...words) => {
        const args = [
          program,
          "ui",
          "--json",
          "--no-open",
          ...(words.includes("--port") ? [] : ["--port", "0"]),
          ...words,
        ];
        const child = spawn(process.execPath, args, { cwd: dir, env, stdio: ["ignore", "pipe", "pipe"] });
        children.push(child);
        let printed = "";
        child.stderr.on("data", (text: Buffer) => {
          printed += text.toString();
        });
        const [line] = await Promise.race([
          once(createInterface({ input: child.stdout }), "line"),
          once(child, "exit").then(() => Promise.reject(new Error(`nacre ui ended: ${printed}`))),
        ]);
        printed += `${line}\n`;
        const { url, token, redirect_file: redirectFile } = JSON.parse(String(line));
        const [, link = ""] = /content="0; url=([^"]+)"/.exec(readFileSync(redirectFile, "utf8")) ?? [];
        return {
          ...{ url, token, redirectFile, link, pid: child.pid ?? 0, port: Number(new URL(url).port) },
          printed: () => printed,
          api: (path, options = {}) =>
            fetch(new URL(path, url), {
              ...options,
              headers: { Authorization: `Bearer ${token}`, ...options.headers },
            }),
          stop: async () => {
            const exited = once(child, "exit");
            child.kill("SIGTERM");
            await exited;
          },
        };
      },
    };
    tests.push(test);
    return test;
  };
}
