// The system call in which a thread waits, by name. /proc/PID/task/TID/syscall shows the call's arguments and its
// number, which depends on the processor.
import { readFileSync } from "node:fs";
import { attempt } from "../support/attempt.ts";

export interface SystemCall {
  readonly name: string;
  /** All six arguments. */
  readonly args: readonly [number, number, ...number[]];
}

/** Returns undefined if the call is not in NUMBERS, or if this user may not read it. */
export function systemCallOf(pid: number, thread: string): SystemCall | "running" | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/task/${thread}/syscall`, "latin1")) ?? "";
  if (text.startsWith("running")) return "running";
  const [number = "", first = "0", second = "0", ...more] = text.split(" ");
  const name = /^\d+$/.test(number) ? NAMES.get(Number(number)) : undefined;
  return name === undefined
    ? undefined
    : { name, args: [Number(first), Number(second), ...more.map(Number)] };
}

/** The number on x64, then on arm64; -1 if the call does not exist there. */
const NUMBERS: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  read: [0, 63],
  write: [1, 64],
  open: [2, -1],
  poll: [7, -1],
  pread64: [17, 67],
  pwrite64: [18, 68],
  readv: [19, 65],
  writev: [20, 66],
  select: [23, -1],
  pause: [34, -1],
  nanosleep: [35, 101],
  sendfile: [40, 71],
  connect: [42, 203],
  accept: [43, 202],
  sendto: [44, 206],
  recvfrom: [45, 207],
  sendmsg: [46, 211],
  recvmsg: [47, 212],
  wait4: [61, 260],
  fcntl: [72, 25],
  flock: [73, 32],
  fsync: [74, 82],
  fdatasync: [75, 83],
  rt_sigtimedwait: [128, 137],
  rt_sigsuspend: [130, 133],
  sync: [162, 81],
  futex: [202, 98],
  clock_nanosleep: [230, 115],
  epoll_wait: [232, -1],
  waitid: [247, 95],
  openat: [257, 56],
  pselect6: [270, 72],
  ppoll: [271, 73],
  splice: [275, 76],
  epoll_pwait: [281, 22],
  accept4: [288, 242],
  io_uring_enter: [426, 426],
  epoll_pwait2: [441, 441],
};

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(NUMBERS).map(([name, [x64, arm64]]) => [process.arch === "arm64" ? arm64 : x64, name]),
);
