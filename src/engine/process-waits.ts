// Describes what a process waits for. Uses the state, the kernel function (wchan) and the system call of its threads,
// and the targets of its descriptors. Reads only /proc.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { lockHolder } from "./file-locks.ts";
import { childrenOf, commandLine, readStat } from "./process-table.ts";
import { socketInodes, socketRows } from "./sockets.ts";
import { type SystemCall, systemCallOf } from "./syscalls.ts";

/** If the threads of a process wait for different things, the kind that comes first in this list counts. */
const KINDS = [
  "runs",
  "stopped",
  "disk",
  "lock",
  "connection",
  "terminal",
  "fifo",
  "data",
  "events",
  "child",
  "signal",
  "timer",
  "thread",
  "unknown",
] as const;

export type WaitKind = (typeof KINDS)[number];

export interface ProcessWait {
  readonly kind: WaitKind;
  /** A noun phrase to follow "waits for"; null if the process runs, or if nothing is known. */
  readonly words: string | null;
}

/** The TCP ports on which a process listens. */
export function listeningPorts(pid: number): number[] {
  const inodes = socketInodes(pid);
  if (!inodes || inodes.size === 0) return [];
  const rows = socketRows(pid).filter(({ isListening, inode }) => isListening && inodes.has(inode));
  return [...new Set(rows.map(({ localPort }) => localPort))].sort((a, b) => a - b);
}

/** undefined for a process that has ended. `ports`: the ports on which it listens. */
export function waitOf(pid: number, ports: readonly number[]): ProcessWait | undefined {
  const stat = readStat(pid);
  if (!stat || stat.hasEnded) return undefined;
  const threads = attempt(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  const waits = threads.flatMap((thread) => threadWait(pid, thread, ports) ?? []);
  return waits.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))[0];
}

function threadWait(pid: number, thread: string, ports: readonly number[]): ProcessWait | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1"));
  const state = text?.slice(text.lastIndexOf(")") + 2)[0];
  if (state === undefined || "ZX".includes(state)) return undefined;
  if (state === "T" || state === "t") return { kind: "stopped", words: "SIGCONT: a signal has stopped it" };
  const call = systemCallOf(pid, thread);
  if (state === "R" || call === "running") return { kind: "runs", words: null };
  const kernelFunction = attempt(() => readFileSync(`/proc/${pid}/task/${thread}/wchan`, "latin1")) ?? "";
  const kind =
    (call && CALLS[call.name]) ?? FUNCTIONS.find(({ begins }) => begins.test(kernelFunction))?.kind;
  if (kind !== undefined && kind !== "file") return describe(kind, { pid, call, ports });
  if (state === "D" || kind === undefined)
    return state === "D" ? { kind: "disk", words: DISK } : { kind: "unknown", words: null };
  return describeDescriptor(pid, call);
}

const DISK = "the disk or a device";

/** "file": depends on the target of the descriptor in the first argument. */
const CALLS: Readonly<Record<string, WaitKind | "file">> = {
  ...{ read: "file", readv: "file", pread64: "file", write: "file", writev: "file", pwrite64: "file" },
  ...{ sendfile: "file", splice: "file", recvfrom: "file", recvmsg: "file", sendto: "file", sendmsg: "file" },
  ...{ connect: "file", open: "fifo", openat: "fifo" },
  ...{ nanosleep: "timer", clock_nanosleep: "timer", wait4: "child", waitid: "child", futex: "thread" },
  ...{ flock: "lock", fcntl: "lock", fsync: "disk", fdatasync: "disk", sync: "disk" },
  ...{ accept: "connection", accept4: "connection", pause: "signal" },
  ...{ rt_sigsuspend: "signal", rt_sigtimedwait: "signal" },
  ...{ poll: "events", ppoll: "events", select: "events", pselect6: "events", io_uring_enter: "events" },
  ...{ epoll_wait: "events", epoll_pwait: "events", epoll_pwait2: "events" },
};

/** Used if this user may not read the system calls of the process. */
const FUNCTIONS: readonly { readonly begins: RegExp; readonly kind: WaitKind }[] = [
  { begins: /nanosleep/, kind: "timer" },
  { begins: /^(?:locks_lock|flock|fcntl_setlk|posix_lock|__break_lease)/, kind: "lock" },
  { begins: /^inet_csk_accept/, kind: "connection" },
  { begins: /^(?:wait_for_partner|fifo_open)/, kind: "fifo" },
  { begins: /^(?:do_wait|kernel_wait)/, kind: "child" },
  { begins: /^futex/, kind: "thread" },
  { begins: /^(?:do_epoll_wait|ep_poll|poll_schedule|do_select|do_poll)/, kind: "events" },
  { begins: /pipe_|unix_stream|sk_wait|skb_wait|tcp_recv/, kind: "data" },
  { begins: /^(?:n_tty_read|wait_woken)/, kind: "terminal" },
  { begins: /sigsuspend|sigtimedwait|^do_signal/, kind: "signal" },
  { begins: /submit_bio|io_schedule|folio_wait|jbd2|balance_dirty|ext4|xfs|btrfs|blk_/, kind: "disk" },
];

interface Facts {
  readonly pid: number;
  readonly call: SystemCall | undefined;
  readonly ports: readonly number[];
}

function describe(kind: WaitKind, { pid, call, ports }: Facts): ProcessWait {
  switch (kind) {
    case "timer":
      return { kind, words: "a timer (it sleeps)" };
    case "lock":
      return { kind, words: lockWords(pid, call) };
    case "connection":
      return { kind, words: connectionWords(ports) };
    case "events":
      return ports.length > 0
        ? { kind: "connection", words: connectionWords(ports) }
        : { kind, words: "events on its descriptors" };
    case "fifo":
      return { kind, words: "another process that opens the other end of a fifo" };
    case "child":
      return { kind, words: childWords(pid) };
    case "thread":
      return { kind, words: "another of its threads (futex)" };
    case "signal":
      return { kind, words: "a signal" };
    case "terminal":
      return { kind, words: "input from a terminal" };
    case "disk":
      return { kind, words: call ? `the disk (${call.name})` : DISK };
    case "data":
      return { kind, words: "data from a pipe or a socket" };
    default:
      return { kind, words: null };
  }
}

function connectionWords(ports: readonly number[]): string {
  return ports.length === 0 ? "a connection" : `a connection on port ${ports.join(", ")}`;
}

function lockWords(pid: number, call: SystemCall | undefined): string {
  const path = call && attempt(() => readlinkSync(`/proc/${pid}/fd/${call.args[0]}`));
  const holder = lockHolder(pid);
  const what = path === undefined ? "a file lock" : `the lock on ${path}`;
  if (holder === undefined) return what;
  const stat = readStat(holder);
  return `${what}, held by PID ${holder}${stat ? ` (${commandLine(holder)})` : ", which has ended and left it to a child"}`;
}

function childWords(pid: number): string {
  const [child] = childrenOf(pid).filter((one) => readStat(one)?.hasEnded === false);
  return child === undefined ? "a child process" : `its child PID ${child} (${commandLine(child)})`;
}

function describeDescriptor(pid: number, call: SystemCall | undefined): ProcessWait {
  const fd = call?.args[0] ?? 0;
  const target = attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? "";
  const isWrite = /^(?:write|pwrite|send|splice)/.test(call?.name ?? "");
  if (target.startsWith("pipe:"))
    return { kind: "data", words: isWrite ? "the reader of a full pipe" : "data from a pipe" };
  if (target.startsWith("socket:")) return socketWords(pid, Number(target.slice(8, -1)), call?.name ?? "");
  if (/^\/dev\/(?:pts\/|tty)/.test(target)) return { kind: "terminal", words: "input from a terminal" };
  if (target.startsWith("/"))
    return isWrite
      ? { kind: "disk", words: `the disk (it writes ${target})` }
      : { kind: "data", words: `data from ${target}` };
  return { kind: "data", words: "data" };
}

function socketWords(pid: number, inode: number, call: string): ProcessWait {
  const remote = socketRows(pid).find((row) => row.inode === inode)?.remote;
  if (call === "connect")
    return { kind: "data", words: `an answer from ${remote ?? "a server"} to its connection` };
  return { kind: "data", words: remote === undefined ? "data from a socket" : `data from ${remote}` };
}
