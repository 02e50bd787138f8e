// The options and results of a session, and what it needs from its manager.

import type { Confinement } from "../engine/confinement.ts";
import type { Containment, Engine } from "../engine/engine.ts";
import type { ShellLabel } from "../engine/meta.ts";
import type { ProcessRef } from "../engine/process-table.ts";
import type { BuiltEnvironment } from "../environment/environment.ts";
import type { SessionFacts } from "../policy/shell-model/session-facts.ts";
import type { Confiner } from "../shell/confiner.ts";
import type { StreamName } from "../shell/follow-output.ts";
import type { CreateShellOptions } from "../shell/manager-options.ts";
import type { Outcome } from "../shell/outcome.ts";
import type { OutputPart } from "../shell/output-part.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { Events } from "../support/events.ts";
import type { Meaning } from "./session-meaning.ts";

export interface SessionOptions {
  /** The first directory of the session, an absolute path. */
  readonly workingDir: string;
  /** The owner of the session: callers of other scopes have other sessions. @default "default" */
  readonly scope?: string;
  /** A file that the first bash sources once; "login": the profile of a login shell. @default none */
  readonly profile?: string;
  /** How long the profile may take. If it takes longer, the session continues without it. @default 10,000 */
  readonly profileTimeoutMs?: number;
  /** Continues from the state of an ended session. @default starts without state */
  readonly saved?: SavedSession;
  /**
   * A directory that counts as named by an earlier call. A call that names it again then does not change the directory.
   * @default workingDir, or none with `saved`
   */
  readonly named?: string;
}

/** The state that a session leaves to a session of the same name in another process. */
export interface SavedSession {
  readonly cwd: string;
  /** The nonce in the marks that separate the parts of `state`. Without it, no bash can restore `state`. */
  readonly nonce: string;
  /** The state of the last bash, as latin1 bytes. A new bash restores it. */
  readonly state: string;
  /** The script that sets the options and traps that are off between commands. */
  readonly prefix: string;
  /** See session-meaning.ts. */
  readonly meaning?: Meaning;
}

/** If the command becomes a separate shell, that shell gets the label. */
export interface RunOptions extends Omit<ShellLabel, "name"> {
  /** The timeout, counted from the start of the command, not from the call. @default never */
  readonly timeoutMs?: number;
  /** "background": the command continues as a separate shell. @default "kill" */
  readonly onTimeout?: "kill" | "background";
  /** After this time, the command continues as a separate shell and keeps its timeout. @default never */
  readonly backgroundAfterMs?: number;
  /** Variables for this command only. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The directory to run in. If the last call named the same one, the command runs in the session's current directory.
   */
  readonly workingDir?: string;
  /** Interrupts the command, or stops waiting for its turn. */
  readonly signal?: AbortSignal;
  /** Receives the number of commands that run first, if the command has to wait. */
  readonly onWait?: (before: number) => void;
  /** Called before the command is sent, with the position of its output. */
  readonly onStart?: (started: {
    readonly stdout: OutputPart;
    readonly stderr: OutputPart;
    /** The processes of the command. */
    readonly processes: () => Promise<readonly ProcessRef[]>;
  }) => void;
}

export interface SessionResult {
  readonly command: string;
  /** null if the exit code is not known. */
  readonly exitCode: number | null;
  readonly outcome: Outcome | undefined;
  readonly stdout: OutputPart;
  readonly stderr: OutputPart;
  /** Where the next command runs. */
  readonly cwd: string;
  readonly cwdChanged: boolean;
  /** Whether a new bash replaced the one that ran this command or was meant to run it. */
  readonly restarted: boolean;
  /** Remarks for the reader of the result, one line each. */
  readonly notes: readonly string[];
  /** Processes that the command left running. */
  readonly leftovers: readonly { readonly pid: number; readonly command: string }[];
  readonly durationMs: number;
  /** The line number of the command's first line in bash's messages. */
  readonly firstLine: number;
  /** The background shell in which the command continues after its timeout. */
  readonly shell?: ShellProcess;
  /** An ended shell that represents the leftovers of the command. Kill this shell to end them. */
  readonly leftoverShell?: ShellProcess;
  /** The sandbox of the command; undefined if none was requested. */
  readonly confinement: Confinement | undefined;
  /** How nacre finds the processes of the command. */
  readonly containment: Containment;
  /** A file that contains only the output of this command. */
  fileOf(stream: StreamName): string;
  /** Returns an ended shell with the output of this command, for example to search the output. */
  asShell(): ShellProcess;
}

export interface StartOptions extends Pick<RunOptions, "env" | "workingDir">, ShellLabel {
  /** Ends the shell with status `timeout` this long after its start. @default never; 24 h if durable */
  readonly timeoutMs?: number;
  /** Outlives the host process and its sessions. @default false */
  readonly durable?: boolean;
  /** Runs the command in a new terminal, into which callers can type. @default false */
  readonly terminal?: boolean;
  /** The size of the terminal. @default 24 and 80 */
  readonly rows?: number;
  readonly cols?: number;
  /** The directory of the preview that the command runs in. */
  readonly previewDir?: string;
  /** Whether the shell counts against the limit on background shells. @default true */
  readonly background?: boolean;
}

export interface CloseOptions {
  /** The cause of the end, for the outcome of the session's shells. */
  readonly by?: string;
  /** The time between TERM and KILL. */
  readonly graceMs?: number;
}

/** What a session needs from its manager. */
export interface SessionDeps {
  readonly engine: Engine;
  readonly events: Events;
  readonly environment: BuiltEnvironment;
  readonly capBytes: number;
  readonly killGraceMs: number;
  readonly allowedRoots: readonly string[] | undefined;
  /** Applies the environment rules again after bash has sourced a profile. */
  sanitize(inherited: Readonly<Record<string, string>>): BuiltEnvironment;
  /** Confines the bashes of the session. */
  readonly confiner: Confiner;
  createShell(options: CreateShellOptions): Promise<ShellProcess>;
  forget(shell: ShellProcess): void;
  /** Checks a bash periodically, because a killed shim reports nothing. */
  watch(shell: ShellProcess): void;
  unwatch(shell: ShellProcess): void;
  /** Creates the shell of a command that continues without the session. */
  addDetached(detached: DetachedBash): ShellProcess;
  /** Creates an ended shell for the processes that a command left running. */
  addLeftover(left: LeftoverCommand): ShellProcess;
}

/** A bash whose command continues without the session, and the position of its output. */
export interface DetachedBash {
  /** The timeout of the command, and the time left until then. */
  readonly deadline?: { readonly timeoutMs: number; readonly leftMs: number };
  /** How long the command has run. */
  readonly durationMs: number;
  readonly bash: ShellProcess;
  readonly command: string;
  readonly label: ShellLabel;
  readonly files: { readonly stdout: string; readonly stderr: string };
  readonly from: { readonly stdout: number; readonly stderr: number };
  /** Where the output ends. @default the end of the files */
  readonly to?: { readonly stdout: number; readonly stderr: number };
}

/** A command that has ended and left processes running. */
export interface LeftoverCommand extends DetachedBash {
  readonly number: number;
  readonly exitCode: number;
}

/** The turn of a call: the session runs no other command until the turn is disposed of. */
export interface Turn extends Disposable {
  /** The variables of the call, checked. */
  readonly env: Readonly<Record<string, string>>;
  /** The directory in which the command would run now. */
  readonly directory: string;
  /** The state that changes the meaning of the command; null before the session's first command. */
  readonly meaning: SessionFacts | null;
}
