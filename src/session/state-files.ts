// The files with the saved states of a bash, which bash itself writes (state-script.ts), and the scripts that a bash
// reads.
import { closeSync, constants, fstatSync, openSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { diskProblem } from "../engine/slot-pool.ts";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { markOf } from "./state-pieces.ts";

export function stateFile(dir: string, index: number): string {
  return join(dir, SESSION_NAMES.state(index));
}

/** The state after this command, if it is whole, and the text after its end mark. */
export function readStateOf(
  path: string,
  number: number,
  nonce: string,
): { readonly state: string; readonly rest: string } | undefined {
  const text = readIfThere(path);
  const end = markOf(nonce, `end ${number}`);
  const at = text.indexOf(`\n${end}`);
  if (at < 0) return undefined;
  const length = at + 1 + end.length;
  return { state: text.slice(0, length), rest: text.slice(length) };
}

/** NAME=VALUE pairs that end with NUL. */
export function readEnvironmentList(path: string): Record<string, string> {
  // The object has no prototype, because __proto__ is a valid variable name.
  const variables: Record<string, string> = Object.create(null);
  for (const pair of readIfThere(path, "utf8").split("\0")) {
    const at = pair.indexOf("=");
    if (at > 0) variables[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return variables;
}

/** A sandboxed bash can put anything at this path. So this function follows no link and does not wait for a fifo. */
function readIfThere(path: string, encoding: BufferEncoding = "latin1"): string {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return fstatSync(fd).isFile() ? readFileSync(fd, encoding) : "";
  } catch {
    return "";
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/**
 * Writes a script completely or not at all. `dir` belongs to the shell that reads the script, or to its session's bash.
 */
export function writeScript(path: string, script: string, dir: string): void {
  try {
    writeFileSync(path, script, { flag: "wx", mode: 0o600, encoding: "latin1" });
  } catch (cause) {
    attempt(() => unlinkSync(path));
    throw new NacreError("spawn_failed", diskProblem(dirname(dirname(dir)), cause), { cause });
  }
}
