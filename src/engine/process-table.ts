// Reads /proc: processes, their tags and their identity.

import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";
import { PROC_READ_BYTES, SCAN_CHUNK_COUNT } from "../support/limits.ts";
import { shortageOf } from "../support/system-error.ts";
import { yieldTurn } from "../support/timing.ts";

/** Identifies one process: the kernel reuses a PID, but not together with its start time. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

/** A key for maps and sets. */
export function processKey({ pid, startTime }: ProcessIdentity): string {
  return `${pid}/${startTime}`;
}

/** A process, with the fields that reports and signals need. */
export interface ProcessRef extends ProcessIdentity {
  readonly group: number;
  readonly command: string;
}

export interface ProcessStat {
  /** The name of the program, at most 15 characters. */
  readonly name: string;
  /** R, S, D, T, Z, ... */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** The device number of the process's controlling terminal; 0 if it has none. */
  readonly terminal: number;
  /** The process group in the foreground of that terminal. */
  readonly foreground: number;
  /** Clock ticks since boot. */
  readonly startTime: string;
  /** The processor time that it has used, in clock ticks. */
  readonly processorTicks: number;
  /** True for a zombie. False while other threads are alive: /proc also shows a dead first thread as a zombie. */
  readonly hasEnded: boolean;
}

export function readStat(pid: number): ProcessStat | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = fieldsOf(text);
  const [state = "", parent, group, session, terminal, foreground] = fields;
  return {
    name: text.slice(text.indexOf("(") + 1, text.lastIndexOf(")")),
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    terminal: Number(terminal),
    foreground: Number(foreground),
    startTime: fields[19] ?? "",
    processorTicks: Number(fields[11]) + Number(fields[12]),
    hasEnded: Number(fields[17]) <= 1 && "ZX".includes(state),
  };
}

/** The flag of a thread that the kernel is tearing down. */
const PF_EXITING = 0x4;
/** SIGKILL in the set of pending signals: the kernel turns every fatal signal into it. */
const PENDING_KILL = 1 << 8;

/** Whether the process will run no more of its program: it is gone, being torn down, or has a pending SIGKILL. */
export function isEnding(pid: number): boolean {
  return namesIn(`/proc/${pid}/task`).every((thread) => {
    const fields = statFields(`/proc/${pid}/task/${thread}/stat`);
    if (fields === undefined) return true;
    return (Number(fields[6]) & PF_EXITING) !== 0 || (Number(fields[28]) & PENDING_KILL) !== 0;
  });
}

/** The fields that follow the name, beginning with the state. The name can contain any character, even parentheses. */
function statFields(path: string): string[] | undefined {
  const text = readText(path);
  return text === undefined ? undefined : fieldsOf(text);
}

function fieldsOf(text: string): string[] {
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** The signal that ended a zombie; 0 if it exited by itself. */
export function endingSignal(pid: number): number {
  return Number(statFields(`/proc/${pid}/stat`)?.[49] ?? 0) & 0x7f;
}

/** Whether the process with this PID and start time is alive. */
export function isSameProcess(pid: number, startTime: string): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.startTime === startTime && !stat.hasEnded;
}

/** Whether a signal or a debugger has stopped the process. */
export function isStopped(pid: number): boolean {
  return "Tt".includes(readStat(pid)?.state ?? "-");
}

let ownIdentity: ProcessIdentity | undefined;

/** The identity of this process, as others see it. */
export function thisProcess(): ProcessIdentity {
  ownIdentity ??= { pid: process.pid, startTime: readStat(process.pid)?.startTime ?? "0" };
  return ownIdentity;
}

/** The hard limit on file locks: "unlimited" or a number; undefined for a dead process. */
export function lockLimit(pid: number | "self"): string | undefined {
  return lockLimits(pid)?.hard;
}

/**
 * Both limits on file locks: the hard limit is the tag of a shell, the soft limit is the number of a session's
 * command.
 */
export function lockLimits(pid: number | "self"): { soft: string; hard: string } | undefined {
  const limits = tagLimits(pid);
  return limits && { soft: limits.soft, hard: limits.tag };
}

/** The hard limits that identify a process of nacre: its tag (tag.ts) and the key of its host (host-key.ts). */
export interface TagLimits {
  /** Each field is "unlimited" or a number. */
  readonly tag: string;
  readonly soft: string;
  readonly key: string;
}

/** undefined for a dead process. */
export function tagLimits(pid: number | "self"): TagLimits | undefined {
  const text = readText(`/proc/${pid}/limits`);
  const at = text?.indexOf("Max file locks") ?? -1;
  if (text === undefined || at < 0) return undefined;
  const [, , , soft = "", tag = ""] = text.slice(at, text.indexOf("\n", at)).split(/ +/);
  const from = text.indexOf("Max resident set");
  const [, , , , key = ""] = text.slice(from, text.indexOf("\n", from)).split(/ +/);
  return { tag, soft, key };
}

/** The soft limit on open files; 0 if /proc does not show it. */
export function openFilesLimit(pid: number): number {
  const soft = /^Max open files\s+(\w+)/m.exec(readText(`/proc/${pid}/limits`) ?? "")?.[1] ?? "0";
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Whether the process ignores this signal number. */
export function ignoresSignal(pid: number, signal: number): boolean {
  const mask = /^SigIgn:\s+([0-9a-f]+)$/m.exec(readText(`/proc/${pid}/status`) ?? "")?.[1];
  return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

/** The path of the process's program; undefined if this user may not read it. */
export function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}

/** Whether this is the ID of a thread. /proc does not list threads, but `/proc/ID` exists. */
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

/** Whether a process has this PID. False for the ID of a thread. */
export function isProcess(pid: number): boolean {
  return Number(/^Tgid:\s+(\d+)$/m.exec(readText(`/proc/${pid}/status`) ?? "")?.[1]) === pid;
}

/** Yields between chunks, because there can be thousands of PIDs. */
export async function forEachPid(pids: readonly number[], visit: (pid: number) => void): Promise<void> {
  for (const [index, pid] of pids.entries()) {
    visit(pid);
    if (index % SCAN_CHUNK_COUNT === SCAN_CHUNK_COUNT - 1) await yieldTurn();
  }
}

/** The children of the parent's first thread, including zombies. */
export function childrenOf(parent: number): number[] {
  const listed = readText(`/proc/${parent}/task/${parent}/children`);
  // Some kernels do not list children.
  return (
    listed?.split(" ").filter(Boolean).map(Number) ??
    allPids().filter((pid) => readStat(pid)?.parent === parent)
  );
}

/** The child of this parent that has this PID in its innermost namespace. */
export function childWithInnerPid(parent: number, innerPid: number): number | undefined {
  return childrenOf(parent).find((pid) => {
    const pids = /^NSpid:\s+(.*)$/m.exec(readText(`/proc/${pid}/status`) ?? "")?.[1];
    return Number(pids?.split(/\s+/).at(-1)) === innerPid;
  });
}

/** The arguments with spaces between them; the name in brackets if there are none. */
export function commandLine(pid: number): string {
  const text = readText(`/proc/${pid}/cmdline`) || lineOfOtherThreads(pid);
  const line =
    text.replace(/\0+$/, "").replaceAll("\0", " ") || `[${readText(`/proc/${pid}/comm`)?.trim() ?? "?"}]`;
  return /[\x80-\xff]/.test(line) ? Buffer.from(line, "latin1").toString() : line;
}

/** If only the first thread has ended, another thread still shows the command line. */
function lineOfOtherThreads(pid: number): string {
  const stat = readStat(pid);
  if (stat?.state !== "Z" || stat.hasEnded) return "";
  for (const thread of namesIn(`/proc/${pid}/task`)) {
    const text = readText(`/proc/${pid}/task/${thread}/cmdline`);
    if (text) return text;
  }
  return "";
}

/** The NAME=VALUE pairs that the process was started with; empty if they cannot be read. */
export function environmentOf(pid: number): string[] {
  return readText(`/proc/${pid}/environ`)?.split("\0") ?? [];
}

export function hasProcfs(): boolean {
  return existsSync("/proc/self/stat");
}

let boot: string | undefined;

/** Identifies this boot of the machine. */
export function bootId(): string {
  boot ??= readText("/proc/sys/kernel/random/boot_id")?.trim() || "unknown";
  return boot;
}

let namespace: string | undefined;

/** Identifies the PID namespace of this process. */
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

/** Returns undefined for a missing file. Throws on a shortage, which must not look like a missing process. */
function readText(path: string): string | undefined {
  try {
    return readWhole(path);
  } catch (error) {
    const shortage = shortageOf(error);
    if (shortage) throw shortage;
    return undefined;
  }
}

const scratch = Buffer.allocUnsafeSlow(PROC_READ_BYTES);

/** Takes about half as long as readFileSync. A scan reads every process and must keep up with forks. */
function readWhole(path: string): string {
  const fd = openSync(path, "r");
  try {
    let length = 0;
    for (let count = 1; count > 0 && length < scratch.length; length += count)
      count = readSync(fd, scratch, length, scratch.length - length, null);
    // Only a command line or an environment is longer than the buffer.
    return length < scratch.length ? scratch.toString("latin1", 0, length) : readFileSync(path, "latin1");
  } finally {
    closeSync(fd);
  }
}
