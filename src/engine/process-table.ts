// What /proc says: processes, their tags and their identity. Reads only.

import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";
import { SCAN_CHUNK_COUNT } from "../support/limits.ts";
import { shortageOf } from "../support/system-error.ts";
import { yieldTurn } from "../support/timing.ts";

/** Identifies one process: the kernel reuses a PID, but not together with its start time. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

/** For maps and sets. */
export function processKey({ pid, startTime }: ProcessIdentity): string {
  return `${pid}/${startTime}`;
}

/** A process as reports and signals name it. */
export interface ProcessRef extends ProcessIdentity {
  readonly group: number;
  readonly command: string;
}

export interface ProcessStat {
  /** Of the program, at most 15 characters. */
  readonly name: string;
  /** R, S, D, T, Z, ... */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot; together with the pid it names one process. */
  readonly startTime: string;
  /** A zombie has. Not while other threads live on: of their first one, /proc then says the same. */
  readonly hasEnded: boolean;
}

export function readStat(pid: number): ProcessStat | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = fieldsOf(text);
  const [state = "", parent, group, session] = fields;
  return {
    name: text.slice(text.indexOf("(") + 1, text.lastIndexOf(")")),
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTime: fields[19] ?? "",
    hasEnded: Number(fields[17]) <= 1 && "ZX".includes(state),
  };
}

/** In the flags of a thread that the kernel is taking apart. */
const PF_EXITING = 0x4;
/** Among the signals a thread has yet to take: the kernel turns every deadly one into this. */
const PENDING_KILL = 1 << 8;

/** Whether it runs no line of its program any more: gone, being taken apart, or killed and not yet told. */
export function isEnding(pid: number): boolean {
  return namesIn(`/proc/${pid}/task`).every((thread) => {
    const fields = statFields(`/proc/${pid}/task/${thread}/stat`);
    if (fields === undefined) return true;
    return (Number(fields[6]) & PF_EXITING) !== 0 || (Number(fields[28]) & PENDING_KILL) !== 0;
  });
}

/** From the state on. The name before it may hold anything, parentheses included. */
function statFields(path: string): string[] | undefined {
  const text = readText(path);
  return text === undefined ? undefined : fieldsOf(text);
}

function fieldsOf(text: string): string[] {
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** The signal that ended a process which its parent has not reaped yet; 0 if it exited by itself. */
export function endingSignal(pid: number): number {
  return Number(statFields(`/proc/${pid}/stat`)?.[49] ?? 0) & 0x7f;
}

/** Alive, and the one that was meant. */
export function isSameProcess(pid: number, startTime: string): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.startTime === startTime && !stat.hasEnded;
}

/** Stopped by a signal, or by a debugger. */
export function isStopped(pid: number): boolean {
  return "Tt".includes(readStat(pid)?.state ?? "-");
}

let ownIdentity: ProcessIdentity | undefined;

/** The identity of this process, as others see it. */
export function thisProcess(): ProcessIdentity {
  ownIdentity ??= { pid: process.pid, startTime: readStat(process.pid)?.startTime ?? "0" };
  return ownIdentity;
}

/** The hard limit on file locks: "unlimited" or a number; undefined for a process that is gone. */
export function lockLimit(pid: number | "self"): string | undefined {
  return lockLimits(pid)?.hard;
}

/** Both limits on file locks: the hard one is the tag of a shell, the soft one names a session's command. */
export function lockLimits(pid: number | "self"): { soft: string; hard: string } | undefined {
  const text = readText(`/proc/${pid}/limits`);
  const at = text?.indexOf("Max file locks") ?? -1;
  if (text === undefined || at < 0) return undefined;
  const [, , , soft = "", hard = ""] = text.slice(at, text.indexOf("\n", at)).split(/ +/);
  return { soft, hard };
}

/** The soft limit on open files; 0 if /proc does not show it. */
export function openFilesLimit(pid: number): number {
  const soft = /^Max open files\s+(\w+)/m.exec(readText(`/proc/${pid}/limits`) ?? "")?.[1] ?? "0";
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Whether it ignores a signal, by number, and would not notice it. */
export function ignoresSignal(pid: number, signal: number): boolean {
  const mask = /^SigIgn:\s+([0-9a-f]+)$/m.exec(readText(`/proc/${pid}/status`) ?? "")?.[1];
  return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

/** The program it runs, as a path; undefined where this user may not look. */
export function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}

/** A thread has an id like a pid. /proc does not list it, but `/proc/ID` opens it. */
export function isThread(pid: number): boolean {
  const leader = /^Tgid:\s+(\d+)$/m.exec(readText(`/proc/${pid}/status`) ?? "")?.[1];
  return leader !== undefined && Number(leader) !== pid;
}

export function allPids(): number[] {
  const pids: number[] = [];
  for (const name of readdirSync("/proc")) {
    const first = name.charCodeAt(0);
    if (first >= 48 && first <= 57) pids.push(Number(name));
  }
  return pids;
}

/** Whether this is the number of a process that is there, and not of one of its threads. */
export function isProcess(pid: number): boolean {
  return Number(/^Tgid:\s+(\d+)$/m.exec(readText(`/proc/${pid}/status`) ?? "")?.[1]) === pid;
}

/** Looks at each pid in turn; between chunks others get to run, for there may be thousands. */
export async function forEachPid(pids: readonly number[], look: (pid: number) => void): Promise<void> {
  for (const [index, pid] of pids.entries()) {
    look(pid);
    if (index % SCAN_CHUNK_COUNT === SCAN_CHUNK_COUNT - 1) await yieldTurn();
  }
}

/** Children of its first thread, also those that have ended and were not reaped. */
export function childrenOf(parent: number): number[] {
  const listed = readText(`/proc/${parent}/task/${parent}/children`);
  // Not every kernel lists them.
  return (
    listed?.split(" ").filter(Boolean).map(Number) ??
    allPids().filter((pid) => readStat(pid)?.parent === parent)
  );
}

/** Of this parent, the child that has this pid in the innermost namespace it is in. */
export function childWithInnerPid(parent: number, innerPid: number): number | undefined {
  return childrenOf(parent).find((pid) => {
    const pids = /^NSpid:\s+(.*)$/m.exec(readText(`/proc/${pid}/status`) ?? "")?.[1];
    return Number(pids?.split(/\s+/).at(-1)) === innerPid;
  });
}

/** The command line as a person would write it; the name in brackets where there is none. */
export function commandLine(pid: number): string {
  const text = readText(`/proc/${pid}/cmdline`) || lineOfOtherThreads(pid);
  return (
    text.replace(/\0+$/, "").replaceAll("\0", " ") || `[${readText(`/proc/${pid}/comm`)?.trim() ?? "?"}]`
  );
}

/** The first thread of a process has nothing to tell once it has ended; the others live on. */
function lineOfOtherThreads(pid: number): string {
  const stat = readStat(pid);
  if (stat?.state !== "Z" || stat.hasEnded) return "";
  for (const thread of namesIn(`/proc/${pid}/task`)) {
    const text = readText(`/proc/${pid}/task/${thread}/cmdline`);
    if (text) return text;
  }
  return "";
}

/** NAME=VALUE pairs it was started with; none where they cannot be read. */
export function environmentOf(pid: number): string[] {
  return readText(`/proc/${pid}/environ`)?.split("\0") ?? [];
}

let largestPid: number | undefined;

/** How many pids there are before they begin anew. */
export function pidMax(): number {
  largestPid ??= Number(readText("/proc/sys/kernel/pid_max")) || 32_768;
  return largestPid;
}

let loadavg: number | undefined;
const loadavgText = Buffer.alloc(128);

/** The pid given out last: equal before and after a command, it forked nothing. Asked often: kept open. */
export function lastPid(): number {
  try {
    loadavg ??= openSync("/proc/loadavg", "r");
    const text = loadavgText.toString("latin1", 0, readSync(loadavg, loadavgText, 0, loadavgText.length, 0));
    // The last of five words.
    return Number(text.slice(text.lastIndexOf(" ") + 1)) || 0;
  } catch (error) {
    const shortage = shortageOf(error);
    if (shortage) throw shortage;
    return 0;
  }
}

export function hasProcfs(): boolean {
  return existsSync("/proc/self/stat");
}

let boot: string | undefined;

/** Names this boot of the machine. */
export function bootId(): string {
  boot ??= readText("/proc/sys/kernel/random/boot_id")?.trim() || "unknown";
  return boot;
}

let namespace: string | undefined;

/** Names the namespace that pids mean something in. */
export function pidNamespace(): string {
  try {
    namespace ??= readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
  } catch {
    namespace = "0";
  }
  return namespace;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    const shortage = shortageOf(error);
    if (shortage) throw shortage;
    return [];
  }
}

/** Not being able to look is not the same as there being nothing: a shortage is thrown. */
function readText(path: string): string | undefined {
  try {
    return readWhole(path);
  } catch (error) {
    const shortage = shortageOf(error);
    if (shortage) throw shortage;
    return undefined;
  }
}

const scratch = Buffer.allocUnsafeSlow(16 * 1024);

/** About half the time of readFileSync: a scan does this for every process, and one that forks is faster than that. */
function readWhole(path: string): string {
  const fd = openSync(path, "r");
  try {
    let length = 0;
    for (let count = 1; count > 0 && length < scratch.length; length += count)
      count = readSync(fd, scratch, length, scratch.length - length, null);
    // A long command line or environment.
    return length < scratch.length ? scratch.toString("latin1", 0, length) : readFileSync(path, "latin1");
  } finally {
    closeSync(fd);
  }
}
