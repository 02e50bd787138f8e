// Runs commands in bash as a reader of the pages would. `nacre` is the built program. The home and state directories
// are temporary. The programs that the pages use (make, npm) exist and succeed.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { program } from "../mcp/mcp-clients.ts";

/** A ceiling against hangs: the pages show many commands, and each starts a program. */
export const READER_MAX_MS = 300_000;

export interface Seen {
  readonly output: string;
  readonly code: number;
}

/** Runs all commands in one bash, so variables carry over. Commands after an exit have no entry in the result. */
export function type(dir: string, commands: readonly string[]): Seen[] {
  const mark = "=== done with";
  const script = commands.map((command) => `{ ${command}\n} 2>&1; printf '%s %s\\n' '${mark}' $?`).join("\n");
  const { stdout } = spawnSync("bash", ["--norc", "-c", script], {
    cwd: dir,
    encoding: "utf8",
    timeout: READER_MAX_MS,
    input: "",
    env: readersEnvironment(dir),
  });
  return [...stdout.matchAll(new RegExp(`([\\s\\S]*?)${mark} (\\d+)\\n`, "g"))].map(
    ([, output = "", code]) => ({ output, code: Number(code) }),
  );
}

export function readersEnvironment(dir: string): Record<string, string> {
  const bin = join(dir, "bin");
  mkdirSync(bin, { recursive: true });
  for (const tool of ["make", "npm"]) script(join(bin, tool), `echo ${tool} "$@"`);
  script(join(bin, "nacre"), `exec '${process.execPath}' '${program}' "$@"`);
  const path = [bin, dirname(process.execPath), process.env["PATH"] ?? "/usr/bin:/bin"].join(":");
  const home = join(dir, "home");
  mkdirSync(home, { recursive: true });
  return { PATH: path, HOME: home, NACRE_HOME: join(dir, "state") };
}

function script(path: string, line: string): void {
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
}
