// Whether a thread is blocked until a terminal has input: from its state, its system call, and the descriptors that the
// call waits for. For poll and select, those are in the memory of the process.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { type SystemCall, systemCallOf } from "../engine/syscalls.ts";
import { attempt } from "../support/attempt.ts";
import { POLLFD_BYTES, TERMINAL_POLLED_MAX_COUNT } from "../support/limits.ts";

/** POLLIN and EPOLLIN. */
const INPUT = 1;

export interface BlockedRead {
  /** The descriptor that it waits for; "unsure" if the kernel does not show it. */
  readonly fd: number | "unsure";
  /** The call also returns by itself after some time. */
  readonly isTimed: boolean;
}

/** undefined if the thread does not wait for input from the terminal. */
export function readsTerminal(
  pid: number,
  thread: string,
  isTerminal: (fd: number) => boolean,
): BlockedRead | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1"));
  if (stat?.slice(stat.lastIndexOf(")") + 2)[0] !== "S") return undefined;
  const call = systemCallOf(pid, thread);
  if (!call) return mayRead(pid, thread) ? { fd: "unsure", isTimed: false } : undefined;
  const fds = waitedFor(pid, call);
  const fd = fds === "unsure" ? fds : fds.find(isTerminal);
  return fd === undefined ? undefined : { fd, isTimed: isTimed(call) };
}

/** -1 in the 32 bits of an int. */
const FOREVER = 0xffff_ffff;

function isTimed({ name, args }: SystemCall): boolean {
  const [, , third = 0, fourth = 0, fifth = 0] = args;
  if (name === "poll") return !isForever(third);
  if (name === "ppoll") return third !== 0;
  if (name === "select" || name === "pselect6") return fifth !== 0;
  if (name === "epoll_wait" || name === "epoll_pwait") return !isForever(fourth);
  return name === "epoll_pwait2" && fourth !== 0;
}

/** The upper half of the register can hold anything. */
function isForever(timeout: number): boolean {
  return timeout % 2 ** 32 === FOREVER || timeout > Number.MAX_SAFE_INTEGER;
}

/** For a process whose system calls this user may not read: the kernel function in which it sleeps. */
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

/** fd_set: one bit per descriptor. The kernel changes the set only when the call returns. */
function selected(pid: number, count: number, address: number): readonly number[] | "unsure" {
  if (count === 0 || address === 0) return [];
  // A select on descriptor 0 alone, as readline does it, needs no look into the memory.
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
