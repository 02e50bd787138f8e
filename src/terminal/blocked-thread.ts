// Detects whether a thread is blocked until a terminal has input. Checks the thread's state, its system call, and the
// descriptors that the call waits for. For poll and select, these descriptors are in the memory of the process.
import { closeSync, openSync, readFileSync, readlinkSync, readSync } from "node:fs";
import { type SystemCall, systemCallOf } from "../engine/syscalls.ts";
import { attempt } from "../support/attempt.ts";
import {
  POLLFD_BYTES,
  TERMINAL_BRIEF_WAIT_MS,
  TERMINAL_POLLED_MAX_COUNT,
  TIMESPEC_BYTES,
} from "../support/limits.ts";

/** POLLIN and EPOLLIN. */
const INPUT = 1;

export interface BlockedRead {
  /** The terminal descriptor on which the thread is waiting; "unsure" if the kernel does not show it. */
  readonly fd: number | "unsure";
  /** Whether the call has a timeout. */
  readonly isTimed: boolean;
  /** Whether the timeout is so short that the program is probably not waiting for input, but drawing a spinner. */
  readonly isBrief: boolean;
  /** Whether the call also waits for sockets: the program may be waiting for a client, a server or a child instead. */
  readonly hasSockets: boolean;
}

/** The result for a read that the kernel does not show. */
export const UNSURE_READ: BlockedRead = { fd: "unsure", isTimed: false, isBrief: false, hasSockets: false };

/** Returns undefined if the thread does not wait for input from the terminal. */
export function readsTerminal(
  pid: number,
  thread: string,
  isTerminal: (fd: number) => boolean,
): BlockedRead | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1"));
  if (stat?.slice(stat.lastIndexOf(")") + 2)[0] !== "S") return undefined;
  const call = systemCallOf(pid, thread);
  if (call === "running") return undefined;
  if (!call) return mayRead(pid, thread) ? UNSURE_READ : undefined;
  const fds = waitedFor(pid, call);
  const fd = fds === "unsure" ? fds : fds.find(isTerminal);
  if (fd === undefined) return undefined;
  const timeoutMs = timeoutOf(pid, call);
  return {
    fd,
    isTimed: timeoutMs !== undefined,
    isBrief: timeoutMs !== undefined && timeoutMs <= TERMINAL_BRIEF_WAIT_MS,
    hasSockets: fds !== "unsure" && fds.some((one) => isSocket(pid, one)),
  };
}

function isSocket(pid: number, fd: number): boolean {
  return attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`))?.startsWith("socket:") === true;
}

/** The timeout in milliseconds; undefined if the call waits forever. An unreadable timeout counts as infinite. */
function timeoutOf(pid: number, { name, args }: SystemCall): number | undefined {
  const [, , third = 0, fourth = 0, fifth = 0] = args;
  if (name === "poll") return milliseconds(third);
  if (name === "epoll_wait" || name === "epoll_pwait") return milliseconds(fourth);
  if (name === "ppoll") return timeAt(pid, third, NANOSECONDS);
  if (name === "epoll_pwait2") return timeAt(pid, fourth, NANOSECONDS);
  if (name === "pselect6") return timeAt(pid, fifth, NANOSECONDS);
  return name === "select" ? timeAt(pid, fifth, MICROSECONDS) : undefined;
}

/**
 * Reads an int, which is negative if there is no timeout. Ignores the upper half of the register, whose value is
 * undefined.
 */
function milliseconds(register: number): number | undefined {
  const timeout = register > Number.MAX_SAFE_INTEGER ? -1 : (register % 2 ** 32) | 0;
  return timeout < 0 ? undefined : timeout;
}

/** Units per millisecond in the second field of struct timespec and of struct timeval. */
const NANOSECONDS = 1e6;
const MICROSECONDS = 1e3;

function timeAt(pid: number, address: number, perMs: number): number | undefined {
  if (address === 0) return undefined;
  const memory = memoryOf(pid, address, TIMESPEC_BYTES);
  if (!memory) return Number.POSITIVE_INFINITY;
  return Number(memory.readBigInt64LE(0)) * 1000 + Number(memory.readBigInt64LE(8)) / perMs;
}

/** For a process with unreadable system calls: whether it sleeps in a kernel function that can read a terminal. */
function mayRead(pid: number, thread: string): boolean {
  const kernelFunction = attempt(() => readFileSync(`/proc/${pid}/task/${thread}/wchan`, "latin1")) ?? "";
  return /^(?:n_tty_read|wait_woken|poll_schedule|do_select|do_poll|do_epoll_wait|ep_poll)/.test(
    kernelFunction,
  );
}

function waitedFor(pid: number, { name, args }: SystemCall): readonly number[] | "unsure" {
  const [first, second] = args;
  switch (name) {
    case "read":
    case "readv":
      return [first];
    case "poll":
    case "ppoll":
      return polled(pid, first, second);
    case "select":
    case "pselect6":
      return selected(pid, first, second);
    case "epoll_wait":
    case "epoll_pwait":
    case "epoll_pwait2":
      return inEpoll(pid, first);
    case "io_uring_enter":
      return "unsure";
    default:
      return [];
  }
}

function polled(pid: number, address: number, count: number): readonly number[] | "unsure" {
  if (count === 0) return [];
  const memory = memoryOf(pid, address, Math.min(count, TERMINAL_POLLED_MAX_COUNT) * POLLFD_BYTES);
  if (!memory) return "unsure";
  const entries = Array.from({ length: memory.length / POLLFD_BYTES }, (_, index) => index * POLLFD_BYTES);
  return entries
    .filter((at) => (memory.readInt16LE(at + 4) & INPUT) !== 0)
    .map((at) => memory.readInt32LE(at));
}

/** Reads the fd_set, which has one bit per descriptor. The kernel changes the set only when the call returns. */
function selected(pid: number, count: number, address: number): readonly number[] | "unsure" {
  if (count === 0 || address === 0) return [];
  // Only descriptor 0 is possible, as in readline, so there is no need to read the memory of the process.
  if (count === 1) return [0];
  const memory = memoryOf(pid, address, Math.ceil(Math.min(count, TERMINAL_POLLED_MAX_COUNT) / 8));
  if (!memory) return "unsure";
  const fds = Array.from({ length: Math.min(count, memory.length * 8) }, (_, fd) => fd);
  return fds.filter((fd) => ((memory[fd >> 3] ?? 0) & (1 << (fd & 7))) !== 0);
}

function inEpoll(pid: number, fd: number): number[] | "unsure" {
  const text = attempt(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, "latin1"));
  if (text === undefined) return "unsure";
  const rows = [...text.matchAll(/^tfd:\s*(\d+) events:\s*([0-9a-f]+)/gm)];
  return rows
    .filter(([, , events = "0"]) => (Number.parseInt(events, 16) & INPUT) !== 0)
    .map(([, tfd]) => Number(tfd));
}

function memoryOf(pid: number, address: number, length: number): Buffer | undefined {
  return attempt(() => {
    const fd = openSync(`/proc/${pid}/mem`, "r");
    try {
      const buffer = Buffer.alloc(length);
      return readSync(fd, buffer, 0, length, address) === length ? buffer : undefined;
    } finally {
      closeSync(fd);
    }
  });
}
