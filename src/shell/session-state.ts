// A session's saved state on disk: a script that makes a new bash what the one before was. It is written by
// bash itself after every command (session-harness.ts), into two files in turn; here it is found and read.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { markOf, quoted } from "./session-harness.ts";

/** The file that the state after this command goes to. */
export function stateFile(dir: string, number: number): string {
  return join(dir, `state.${number % 2}`);
}

/** The newest state that is whole: after this command, else after the one before. */
export function wholeState(dir: string, number: number, nonce: string): string | undefined {
  const end = markOf({ nonce }, "end");
  return [stateFile(dir, number), stateFile(dir, number + 1)].find((path) => readQuietly(path).endsWith(end));
}

/** What a background shell takes over: shell options, functions and exports, then variables of its own. */
export function writeInheritance(
  path: string,
  options: {
    /** A saved state, whole. */
    readonly state: string;
    readonly nonce: string;
    readonly baseNames: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  },
): void {
  const { nonce, baseNames, env } = options;
  const [inherited = ""] = options.state.split(markOf({ nonce }, "variables"));
  const own = Object.entries(env).map(([name, value]) =>
    // The state is bytes, read as latin1; so must this be.
    Buffer.from(`builtin export ${name}=${quoted(value)}\n`).toString("latin1"),
  );
  const script = [
    `builtin unset -v ${baseNames.join(" ")}\n`,
    "{\n",
    inherited,
    ...own,
    "} >/dev/null 2>&1\n",
    // This very file: it is for the first bash only.
    "builtin unset BASH_ENV\n",
  ];
  writeFileSync(path, script.join(""), { mode: 0o600, encoding: "latin1" });
}

/** NAME=VALUE pairs that end with NUL. */
export function readEnvironmentList(path: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const pair of readQuietly(path, "utf8").split("\0")) {
    const at = pair.indexOf("=");
    if (at > 0) variables[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return variables;
}

/** A directory that is gone: the nearest one above it that is there. */
export function nearestDirectory(path: string): string {
  let dir = path;
  while (!existsSync(dir) && dir !== dirname(dir)) dir = dirname(dir);
  return dir;
}

function readQuietly(path: string, encoding: BufferEncoding = "latin1"): string {
  try {
    return readFileSync(path, encoding);
  } catch {
    return "";
  }
}
