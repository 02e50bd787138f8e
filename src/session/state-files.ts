// The files with the saved states of a bash, which bash itself writes (session-harness.ts), and the scripts that a bash
// reads.
import { closeSync, constants, fstatSync, openSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { diskProblem } from "../engine/slot-pool.ts";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { markOf } from "./state-pieces.ts";

/** The file for the state after this command. Two files alternate: while bash writes one, the other is whole. */
export function stateFile(dir: string, number: number): string {
  return join(dir, SESSION_NAMES.state(number));
}

/** The newest whole state: after this command, else after the previous one. */
export function readState(dir: string, number: number, nonce: string): string | undefined {
  return readStateOf(dir, number, nonce) ?? readStateOf(dir, number - 1, nonce);
}

/** The state after this command, if it is whole. */
export function readStateOf(dir: string, number: number, nonce: string): string | undefined {
  const text = readIfThere(stateFile(dir, number));
  const end = markOf(nonce, `end ${number}`);
  const at = text.indexOf(`\n${end}`);
  return at < 0 ? undefined : text.slice(0, at + 1 + end.length);
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

/** A sandboxed bash can put anything at this path. Do not follow a link, and do not wait for a fifo. */
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
