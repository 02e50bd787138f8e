// A shell that runs or has run: its files, its processes, and what nacre needs to find the processes. taken-slot.ts
// creates this object when a shell starts; attach.ts reads it from disk.
import type { HostKey } from "./host-key.ts";
import type { ShellMeta } from "./meta.ts";
import type { PidMark } from "./pids-since.ts";
import { childWithInnerPid, type ProcessIdentity, readStat } from "./process-table.ts";
import type { ShellFiles } from "./state-dir.ts";

/**
 * The boot and PID namespace in which the kernel assigned the recorded PIDs. The PIDs are valid only if this is
 * "here".
 */
export type Origin = "here" | "another boot" | "another namespace" | "unknown";

export interface StartedShell {
  readonly id: string;
  readonly files: ShellFiles;
  readonly meta: ShellMeta;
  readonly shimPid: number;
  readonly shimStart: string;
  /** The command's bash, leader of its process group. */
  readonly commandPid: number;
  readonly commandStart: string;
  /**
   * Set if bwrap confines the shell: bwrap, or the bash that runs it. When it ends, the kernel kills everything inside.
   */
  readonly sandbox?: ProcessIdentity;
  /** The tag of its processes; undefined without tags. */
  readonly tag: bigint | undefined;
  /** The key of the host that started it; undefined without one. */
  readonly key?: HostKey | undefined;
  /** PIDs of its loggers, if this host process started it. */
  readonly loggers?: { readonly stdout: number; readonly stderr: number };
  /** A descriptor of the script pipe of a session's bash. The session closes it. */
  readonly scriptFd?: number;
  /**
   * Call this after the end of the shell. Removes the sandbox and writes remarks about the end. Later calls do
   * nothing.
   */
  readonly free?: () => void;
  /** The last PID assigned before the command started. */
  readonly pidsBefore: PidMark;
  /** Whether another host process started the shell, and this object was read from disk. */
  readonly attached?: boolean;
  /** Set only if attached. */
  readonly origin?: Origin;
  /**
   * Why nacre cannot find the shell's processes, for example because its PIDs are not valid after a reboot; undefined
   * if nacre can find them.
   */
  readonly unseen?: string;
}

/**
 * Whether a process only maintains the sandbox of its shell: bwrap, the bash that runs bwrap
 * (sandbox/start-script.ts), or the first process in the sandbox. Such a process ends by itself after the others. The
 * kernel discards every signal except SIGKILL that would end the first process in the sandbox.
 */
export function keepsSandbox(pid: number, { sandbox }: StartedShell): boolean {
  if (sandbox === undefined) return false;
  const parent = readStat(pid)?.parent ?? 0;
  if (pid === sandbox.pid || parent === sandbox.pid) return true;
  // If a bash runs bwrap, the first process inside is its grandchild.
  return readStat(parent)?.parent === sandbox.pid && childWithInnerPid(parent, FIRST_PID) === pid;
}

/** The PID of the first process of a namespace, inside it. */
const FIRST_PID = 1;
