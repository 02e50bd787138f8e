// What a session and a run in it can be told, and what comes back.

import type { Confinement } from "../engine/confinement.ts";
import type { Engine } from "../engine/engine.ts";
import type { BuiltEnvironment } from "../environment/environment.ts";
import type { Confiner } from "../shell/confiner.ts";
import type { StreamName } from "../shell/follow-output.ts";
import type { CreateShellOptions } from "../shell/manager-options.ts";
import type { Outcome } from "../shell/outcome.ts";
import type { OutputPart } from "../shell/output-part.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { Events } from "../support/events.ts";
import type { Meaning } from "./session-meaning.ts";

export interface SessionOptions {
  /** Where it is born. Absolute. */
  readonly workingDir: string;
  /** Whose it is: callers of other scopes have sessions of their own. @default "default" */
  readonly scope?: string;
  /** A file that is sourced once, when the session is born; "login": those of a login shell. @default none */
  readonly profile?: string;
  /** How long the profile may take; the session goes on without one that takes longer. @default 10,000 */
  readonly profileTimeoutMs?: number;
  /** Goes on from what a session left that is over. @default begins anew */
  readonly saved?: SavedSession;
  /** Counts as named by a call before: one that names it stays where the session is. @default workingDir, or none with `saved` */
  readonly named?: string;
}

/** All that a session leaves to one of its name in another process. */
export interface SavedSession {
  readonly cwd: string;
  /** Bound into the state. */
  readonly nonce: string;
  /** Bytes, as latin1: what makes a new bash what the one before was. */
  readonly state: string;
  /** Options and traps, which are set anew for each command. */
  readonly prefix: string;
  /** What its next command means (session-meaning.ts). */
  readonly meaning?: Meaning;
}

export interface RunOptions {
  /** Counts from the command's start, not from the call. @default never */
  readonly timeoutMs?: number;
  /** "background": the command goes on as a shell of its own. @default "kill" */
  readonly onTimeout?: "kill" | "background";
  /** The command goes on as a shell of its own after this time, and keeps its timeout. @default never */
  readonly backgroundAfterMs?: number;
  /** For this command only. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another directory than the last call named: changes there first. */
  readonly workingDir?: string;
  /** Interrupts the command, or gives up waiting for its turn. */
  readonly signal?: AbortSignal;
  /** Called when other commands of the session come first, with their number. */
  readonly onWait?: (before: number) => void;
  /**
   * Called when its turn has come, with the directory it will run in. What it throws is thrown, and nothing is
   * run; what it returns is called when the command has ended.
   */
  readonly onTurn?: (cwd: string) => Promise<() => void>;
  /** Called when it is about to be sent, with where its output will be. */
  readonly onStart?: (output: { readonly stdout: OutputPart; readonly stderr: OutputPart }) => void;
}

export interface SessionResult {
  readonly command: string;
  /** null where none is known. */
  readonly exitCode: number | null;
  readonly outcome: Outcome | undefined;
  readonly stdout: OutputPart;
  readonly stderr: OutputPart;
  /** Where the next command will run. */
  readonly cwd: string;
  readonly cwdChanged: boolean;
  /** A new bash goes on in place of the one that ran this command, or was to run it. */
  readonly restarted: boolean;
  /** One-line remarks for whoever reads the result. */
  readonly notes: readonly string[];
  /** What it left running. */
  readonly leftovers: readonly { readonly pid: number; readonly command: string }[];
  readonly durationMs: number;
  /** The line number bash gives to the first line of the command in its messages. */
  readonly firstLine: number;
  /** The shell that goes on with the command, whose time was over. */
  readonly shell?: ShellProcess;
  /** What it left running, as a shell that has ended: killing it ends that. */
  readonly remains?: ShellProcess;
  /** What it may touch; undefined where nothing was asked for. */
  readonly confinement: Confinement | undefined;
  /** A file that holds what this command printed, and nothing else. */
  fileOf(stream: StreamName): string;
}

export interface StartOptions extends Pick<RunOptions, "env" | "workingDir"> {
  /** Ends it with status `timeout` this long after its start. @default never; 24 h if it is durable */
  readonly timeoutMs?: number;
  /** Outlives the host, and the session with it. @default false */
  readonly durable?: boolean;
}

/** What a session needs of the manager it belongs to. */
export interface SessionHouse {
  readonly host: Engine;
  readonly events: Events;
  readonly environment: BuiltEnvironment;
  readonly capBytes: number;
  readonly killGraceMs: number;
  readonly allowedRoots: readonly string[] | undefined;
  /** The rules for the environment, once more, for what a profile has made of it. */
  sanitise(inherited: Readonly<Record<string, string>>): BuiltEnvironment;
  /** Confines its bashes. */
  readonly confiner: Confiner;
  createShell(options: CreateShellOptions): Promise<ShellProcess>;
  forget(shell: ShellProcess): void;
  /** Looks after a bash: one whose shim was killed tells nobody. */
  watch(shell: ShellProcess): void;
  unwatch(shell: ShellProcess): void;
  /** Makes a session's bash a shell like any other. */
  publish(part: PublishedBash): ShellProcess;
  /** Makes what a command left running a shell like any other that has ended. */
  publishRemains(remains: CommandRemains): ShellProcess;
}

/** A bash whose command goes on by itself, and where that command's output is. */
export interface PublishedBash {
  /** When the command is to be killed: what was asked for, and what is left of it. */
  readonly deadline?: { readonly timeoutMs: number; readonly leftMs: number };
  /** How long the command has run. */
  readonly durationMs: number;
  readonly bash: ShellProcess;
  readonly command: string;
  readonly files: { readonly stdout: string; readonly stderr: string };
  readonly from: { readonly stdout: number; readonly stderr: number };
}

/** A command that has ended, in a bash that lives on, and something of it that lives on, too. */
export interface CommandRemains extends PublishedBash {
  readonly number: number;
  readonly exitCode: number;
}
