// The identities of a shell's processes, as its shim wrote them to disk. The kernel reuses PIDs: a PID identifies a
// process only together with its start time, boot and PID namespace.
import { readFileSync } from "node:fs";
import { attempt } from "../support/attempt.ts";

export interface ShellIdentity {
  readonly shimPid: number;
  readonly shimStart: string;
  /** The command's bash, leader of its process group. */
  readonly commandPid: number;
  readonly commandStart: string;
  /** The tag of its processes; "-" without tags. */
  readonly tag: string;
  /** The key of its host in KiB (host-key.ts); undefined without one. */
  readonly key?: string | undefined;
  readonly bootId: string;
  readonly pidNamespace: string;
}

export function readIdentity(path: string): ShellIdentity | undefined {
  const text = attempt(() => readFileSync(path, "latin1")) ?? "";
  // Without the final newline, the file is incomplete.
  const match = /^(\d+) (\d+) (\d+) (\d+) (?:(\d+)(?::(\d+))?|-) (\S+) (\d+)\n$/.exec(text);
  if (!match) return undefined;
  const [
    ,
    shimPid = "",
    shimStart = "",
    commandPid = "",
    commandStart = "",
    tag = "-",
    key,
    bootId = "",
    ns = "",
  ] = match;
  return {
    shimPid: Number(shimPid),
    shimStart,
    commandPid: Number(commandPid),
    commandStart,
    tag,
    key,
    bootId,
    pidNamespace: ns,
  };
}
