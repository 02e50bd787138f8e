// Where shells run. A host starts commands and tells what became of them; it decides nothing.
// To add one: implement Host over anything that gives a pipe to a keeper, and run the contract suite.
import type { Readable } from "node:stream";
import type { ExitRecord } from "./end-record.ts";
import type { ShellIdentity } from "./identity.ts";
import type { ShellFiles } from "./layout.ts";
import type { Logger } from "./logger.ts";
import type { ShellMeta } from "./meta.ts";
import type { PidMark } from "./pids-since.ts";
import type { ReportFifo } from "./report-fifo.ts";
import type { Room } from "./room.ts";
import type { ScriptChannel } from "./script-channel.ts";
import type { Presence } from "./sweep.ts";

/**
 * How surely everything a shell started can be found:
 * by its tag, by its cgroup, or by group, parents and an environment variable only.
 */
export type Containment = "tag" | "cgroup" | "best-effort";

/** Where a shell is about to start. */
export interface StartPlace {
  readonly id: string;
  readonly files: ShellFiles;
  /** The shim, which outlives the command. */
  readonly holder: { readonly pid: number; readonly startTime: string };
  readonly bashPath: string;
  /** The program that a sandboxed session begins with, and what that reads. */
  readonly supervisorFiles: readonly [string, ...string[]];
}

/** What the waiting bash does before its command, by a script that may replace it. */
export interface Beginning {
  readonly script: string;
  /** Put into the shell's directory. */
  readonly files: readonly { readonly name: string; readonly content: Buffer }[];
  /** Called once, after the end; returns remarks on it. */
  end(): string[];
}

export interface StartPlan {
  readonly command: string;
  /** Instead of the command it runs what is sent through its channel, which it has as stdin: a session. */
  readonly session?: boolean;
  /** Absolute, and checked to be a directory that can be entered. */
  readonly workingDir: string;
  /** On top of the host's base environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** What the command reads as its stdin. @default nothing */
  readonly stdin?: Readable | undefined;
  readonly capBytes: number;
  readonly streams: "split" | "merged";
  /** Whether stdout's file ends with a line that says how the command ended. */
  readonly trailer?: boolean;
  /** Confines it. Called before `meta`. */
  readonly begin?: ((place: StartPlace) => Beginning) | undefined;
  /** Completes what is written to disk before the start. */
  readonly meta: (id: string) => ShellMeta;
  /** Called once, when the exit record is on disk. */
  readonly onExit: (record: ExitRecord) => void;
}

export type Origin = "here" | "another boot" | "another namespace" | "unknown";

/** How far a shell is: it waits for a job, it is about to wait or to begin, or it has begun. */
export type Progress = "waiting" | "unclear" | "begun";

export interface StartedShell {
  readonly id: string;
  readonly files: ShellFiles;
  readonly meta: ShellMeta;
  readonly shimPid: number;
  readonly shimStart: string;
  /** The command's bash, leader of its group. */
  readonly commandPid: number;
  readonly commandStart: string;
  /** bwrap, where that confines it: its end is the end of everything inside, at once. */
  readonly sandbox?: { readonly pid: number; readonly startTime: string };
  /** What its descendants bear; undefined without tags. */
  readonly tag: bigint | undefined;
  /** Its loggers, where this host has started it. */
  readonly loggers?: { readonly stdout: number; readonly stderr: number };
  /** Where a session's script goes. */
  readonly channel?: ScriptChannel;
  /** After its end: takes down what confined it and writes the remarks on that. Once is enough. */
  readonly free?: () => void;
  /** Before its start. */
  readonly pidsBefore: PidMark;
  /** Found on disk: another host has started it. */
  readonly attached?: boolean;
  /** Of a found one: where its pids mean something. */
  readonly origin?: Origin;
  /** Why its processes cannot be looked for, if they cannot: pids mean nothing after a reboot, say. */
  readonly unseen?: string;
}

/** One process, by pid and start time: a recycled pid is somebody else. */
export interface ProcessRef {
  readonly pid: number;
  readonly startTime: string;
  readonly group: number;
  readonly command: string;
}

export type SignalResult = "sent" | "gone" | "denied";

export interface HuntPlan {
  /** How long to wait for the first process to appear. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** What a process gets when it appears. */
  readonly signal: "SIGSTOP" | "SIGKILL";
  /** Processes with a later pid count as well, though they are there already. @default the last pid given out */
  readonly sincePid?: number;
}

export interface Host {
  /** Known once ready. */
  readonly containment: Containment;
  /** Starts what the first command would otherwise have to wait for. */
  ready(): Promise<void>;
  start(plan: StartPlan): Promise<StartedShell>;
  /** What a session's bash reports through; undefined where its shim has died. */
  openReports(shell: StartedShell, onBytes: (bytes: Buffer) => void): ReportFifo | undefined;
  /** A place that a sandboxed session can see. */
  openRoom(): Promise<Room>;
  /** Another logger for a session. */
  openLogger(file: string, capBytes: number): Promise<Logger>;
  /** The shell is over and its number may be given out again. */
  release(shell: StartedShell): void;
  /** What each shell has running, its own shim and loggers excepted. One look for many shells. */
  processesOf(shells: readonly StartedShell[]): Promise<Map<StartedShell, ProcessRef[]>>;
  /**
   * Signals processes of these shells as they appear, for as long as some do: those that a scan finds too late. `isPart`
   * leaves out what is not meant.
   */
  hunt(
    shells: readonly StartedShell[],
    plan: HuntPlan,
    onStruck: (shell: StartedShell, process: ProcessRef, result: SignalResult) => void,
    isPart?: (pid: number, shell: StartedShell) => boolean,
  ): Promise<void>;
  /** What a shell that has ended left running; cheap where it forked nothing. */
  leftoversOf(shell: StartedShell): Promise<ProcessRef[]>;
  signal(target: Pick<ProcessRef, "pid" | "startTime">, signal: NodeJS.Signals): SignalResult;
  /** Whether this host is not allowed to signal it. */
  mayNotSignal(target: ProcessRef): boolean;
  /** To the command's whole group, if the command or its group is still there. */
  signalGroup(shell: StartedShell, signal: NodeJS.Signals): SignalResult;
  isAlive(pid: number, startTime: string): boolean;
  /** Of a shell on disk, whoever started it. */
  presence(identity: ShellIdentity): Presence;
  /** This process, as others know it. */
  readonly identity: { readonly pid: number; readonly startTime: string };
  /** A shell that is on disk, whoever has started it; undefined where its files do not tell. */
  attach(id: string): StartedShell | undefined;
  /** Whether a shell has got its job. */
  progressOf(shell: StartedShell): Progress;
  /** Removes what dead hosts left that belongs to no shell. */
  tidyUp(): void;
  /** Keeps the event loop alive until the returned function is called. */
  hold(): () => void;
  /** Ends every shell of this host. */
  dispose(): Promise<void>;
}

/** What ending needs of a host. */
export type KillHost = Pick<
  Host,
  "processesOf" | "hunt" | "signal" | "mayNotSignal" | "signalGroup" | "isAlive"
>;
