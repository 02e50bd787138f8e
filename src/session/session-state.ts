// A session's saved state on disk: a script that makes a new bash what the one before was. It is written by
// bash itself after every command (session-harness.ts), into two files in turn; here it is found and read.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import { markOf } from "./session-harness.ts";

/** The file that the state after this command goes to. */
export function stateFile(dir: string, number: number): string {
  return join(dir, SESSION_NAMES.state(number));
}

/** The newest state that is whole: after this command, else after the one before. */
export function readState(dir: string, number: number, nonce: string): string | undefined {
  return readStateOf(dir, number, nonce) ?? readStateOf(dir, number - 1, nonce);
}

/** The state after this command, if it is whole. */
export function readStateOf(dir: string, number: number, nonce: string): string | undefined {
  const text = readQuietly(stateFile(dir, number));
  const end = markOf({ nonce }, `end ${number}`);
  const at = text.indexOf(`\n${end}`);
  return at < 0 ? undefined : text.slice(0, at + 1 + end.length);
}

/** NAME=VALUE pairs that end with NUL. */
export function readEnvironmentList(path: string): Record<string, string> {
  // Without a prototype: __proto__ is a name like any other.
  const variables: Record<string, string> = Object.create(null);
  for (const pair of readQuietly(path, "utf8").split("\0")) {
    const at = pair.indexOf("=");
    if (at > 0) variables[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return variables;
}

/** A sandboxed bash may have put anything there: a link is not followed, a fifo not waited for. */
function readQuietly(path: string, encoding: BufferEncoding = "latin1"): string {
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
