// Who runs a shell: written by its shim. A pid alone names no process, it is recycled; with the start
// time, the boot and the pid namespace it does.
import { readFileSync } from "node:fs";

export interface ShellIdentity {
  readonly shimPid: number;
  readonly shimStart: string;
  /** The command's bash, leader of its process group. */
  readonly commandPid: number;
  readonly commandStart: string;
  /** The tag its descendants bear, "-" where tags do not work. */
  readonly tag: string;
  readonly bootId: string;
  readonly pidNamespace: string;
}

export function readIdentity(path: string): ShellIdentity | undefined {
  let text: string;
  try {
    text = readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
  // A line without its end was cut short.
  const match = /^(\d+) (\d+) (\d+) (\d+) (\d+|-) (\S+) (\d+)\n$/.exec(text);
  if (!match) return undefined;
  const [, shimPid = "", shimStart = "", commandPid = "", commandStart = "", tag = "", bootId = "", ns = ""] =
    match;
  return {
    shimPid: Number(shimPid),
    shimStart,
    commandPid: Number(commandPid),
    commandStart,
    tag,
    bootId,
    pidNamespace: ns,
  };
}
