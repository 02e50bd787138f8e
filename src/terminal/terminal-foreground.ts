// Finds the processes in the foreground of a terminal, and the one among them that is blocked until it gets input.
// Relies only on the kernel (/proc), never on the output of programs.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { allPids, childrenOf, type ProcessStat, readStat } from "../engine/process-table.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { attempt } from "../support/attempt.ts";
import { TERMINAL_PROCESSES_MAX_COUNT } from "../support/limits.ts";
import { systemCode } from "../support/system-error.ts";
import { type BlockedRead, readsTerminal, UNSURE_READ } from "./blocked-thread.ts";

export interface TerminalReader extends Omit<BlockedRead, "fd"> {
  readonly pid: number;
  /** The name of the program. */
  readonly name: string;
  /** False if the kernel does not show what the process waits for. */
  readonly isSure: boolean;
  /** Identifies the thread and counts its context switches. Changes whenever the thread has run. */
  readonly turns: string;
}

interface ForegroundProcess extends ProcessStat {
  readonly pid: number;
}

export interface TerminalForeground {
  /** The device number of the terminal. */
  readonly device: number;
  /** The first process in the terminal. */
  readonly leader: number;
  /** The parent of the leader. It made the terminal and passes keys on to it. */
  readonly maker: number;
  /** Whether the maker, such as script, sleeps: it has no bytes left to pass on. */
  readonly isRelayIdle: boolean;
  readonly processes: readonly ForegroundProcess[];
}

/**
 * The terminal of the shell, then the terminals that programs in it have made, such as sudo, su and script. Empty
 * before the terminal exists and after the end of the shell.
 */
export function terminalsOf({ commandPid }: Pick<StartedShell, "commandPid">): TerminalForeground[] {
  const own = readStat(commandPid)?.terminal ?? 0;
  const descendants = descendantsOf(commandPid);
  const leaders = descendants.filter(
    ({ pid, terminal, session }) => terminal !== 0 && terminal !== own && session === pid,
  );
  return leaders.map((leader) => foregroundOf(leader, descendants));
}

function foregroundOf(
  leader: ForegroundProcess,
  descendants: readonly ForegroundProcess[],
): TerminalForeground {
  const isInFront = ({ terminal, group, hasEnded }: ForegroundProcess) =>
    terminal === leader.terminal && group === leader.foreground && !hasEnded;
  const processes = descendants.filter(isInFront);
  // A process whose parent has ended is no longer a descendant.
  const found = processes.length > 0 ? processes : everyProcess().filter(isInFront);
  const isRelayIdle = readStat(leader.parent)?.state === "S";
  return { device: leader.terminal, leader: leader.pid, maker: leader.parent, isRelayIdle, processes: found };
}

/** The process that waits for input; undefined if there is none. */
export function readerOfTerminal({ processes, device }: TerminalForeground): TerminalReader | undefined {
  let unsure: TerminalReader | undefined;
  for (const { pid, name, state } of processes) {
    const isOpen = (fd: number) => [device, DEV_TTY].includes(deviceOf(pid, fd) ?? 0);
    const isHidden = state === "S" && isUnreadable(pid);
    for (const thread of attempt(() => readdirSync(`/proc/${pid}/task`)) ?? []) {
      const found = isHidden ? UNSURE_READ : readsTerminal(pid, thread, isOpen);
      if (!found || (found.fd === "unsure" && !isHidden && !fdsOf(pid).some(isOpen))) continue;
      const { fd, ...read } = found;
      const reader = { ...read, pid, name, isSure: fd !== "unsure", turns: turnsOf(pid, thread) };
      if (reader.isSure) return reader;
      unsure ??= reader;
    }
  }
  return unsure;
}

/** The reader of the innermost terminal that receives typed keys. Skips relays, because they only pass keys on. */
export function innermostReader(
  terminal: TerminalForeground,
  nested: readonly TerminalForeground[],
): TerminalReader | undefined {
  const reader = readerOfTerminal(terminal);
  const inside = nested.filter(({ maker }) => maker === reader?.pid);
  if (inside.length === 0) return reader;
  return inside.map((one) => innermostReader(one, nested)).find((one) => one !== undefined);
}

/**
 * Whether the process belongs to another user or protects its memory, such as sudo and gpg. The kernel then does not
 * show what the process waits for.
 */
function isUnreadable(pid: number): boolean {
  try {
    readdirSync(`/proc/${pid}/fd`);
    return false;
  } catch (error) {
    return ["EACCES", "EPERM"].includes(systemCode(error) ?? "");
  }
}

export interface TerminalHandle {
  readonly pid: number;
  readonly fd: number;
}

/**
 * A descriptor through which other processes can open the terminal. Skips descriptors of /dev/tty: a process that opens
 * /dev/tty gets its own terminal.
 */
export function terminalHandle(
  { leader, processes, device }: TerminalForeground,
  first?: number,
): TerminalHandle | undefined {
  for (const pid of [...(first === undefined ? [] : [first]), leader, ...processes.map((one) => one.pid)]) {
    const fd = fdsOf(pid).find((one) => deviceOf(pid, one) === device);
    if (fd !== undefined) return { pid, fd };
  }
  return undefined;
}

/** The descendants, parents first. */
function descendantsOf(first: number): ForegroundProcess[] {
  const found: ForegroundProcess[] = [];
  let parents = [first];
  while (parents.length > 0 && found.length < TERMINAL_PROCESSES_MAX_COUNT) {
    const children = parents.flatMap((parent) => childrenOf(parent));
    for (const pid of children) {
      const stat = readStat(pid);
      if (stat) found.push({ ...stat, pid });
    }
    parents = children;
  }
  return found;
}

function everyProcess(): ForegroundProcess[] {
  return allPids().flatMap((pid) => {
    const stat = readStat(pid);
    return stat ? [{ ...stat, pid }] : [];
  });
}

/** The device number of /dev/tty, which is the controlling terminal of the process that opens it. */
const DEV_TTY = (5 << 8) | 0;

/** The number of a descriptor's character device. Does not use the path, which can name another device in a sandbox. */
function deviceOf(pid: number, fd: number): number | undefined {
  const stat = attempt(() => statSync(`/proc/${pid}/fd/${fd}`));
  return stat?.isCharacterDevice() ? stat.rdev : undefined;
}

function fdsOf(pid: number): number[] {
  return (attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? []).map(Number).sort((a, b) => a - b);
}

/** The PID, the thread, and how often the thread has given up the processor. */
function turnsOf(pid: number, thread: string): string {
  const text = attempt(() => readFileSync(`/proc/${pid}/task/${thread}/status`, "latin1")) ?? "";
  const counts = [...text.matchAll(/^\w*voluntary_ctxt_switches:\s+(\d+)$/gm)].map(([, count]) => count);
  return `${pid}/${thread}/${counts.join("/")}`;
}
