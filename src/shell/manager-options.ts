// The options of ShellManager and of its createShell.
import type { Readable } from "node:stream";
import type { ShellLabel } from "../engine/meta.ts";
import type { EnvironmentMode } from "../environment/environment.ts";
import type { ConfineOptions } from "../sandbox/sandbox.ts";
import type { Events } from "../support/events.ts";

export interface ShellManagerOptions extends ConfineOptions {
  /** The directory for shells on disk. @default NACRE_HOME, else the XDG state directory */
  readonly stateRoot?: string;
  /** The variables that commands inherit from this process, and those that nacre sets for them. */
  readonly environment?: {
    /** @default "safe" */
    readonly mode?: EnvironmentMode;
    readonly include?: readonly string[];
    readonly exclude?: readonly string[];
    readonly set?: Readonly<Record<string, string>>;
  };
  /**
   * "user": commands also get the variables that the profile of the user's shell ($SHELL -lic) sets, without secrets.
   * Runs that shell once, and again when a file of the profile changes. @default "none"
   */
  readonly shellProfile?: "none" | "user";
  /** Files of the host program that sandboxed commands must not write: its rules, its audit log. */
  readonly trustedFiles?: readonly string[];
  /** The absolute path of bash. @default the first bash in PATH */
  readonly shellPath?: string;
  /** The directories that commands may start in. @default anywhere */
  readonly allowedRoots?: readonly string[];
  /** Disk cap of one output stream. @default 2 GiB */
  readonly capBytes?: number;
  /** The most background shells that can run in a scope at the same time. @default 64 */
  readonly maxLiveShells?: number;
  /** The most sessions that can have a running bash at the same time. @default 32 */
  readonly maxSessions?: number;
  /**
   * The time between TERM and KILL. A value above the default also sets the time between INT and KILL in a session.
   * @default 2000
   */
  readonly killGraceMs?: number;
  /** Disk quota of all finished shells. @default 10 GiB */
  readonly quotaBytes?: number;
  /** Age at which finished shells are removed. @default 3600 */
  readonly finishedMaxAgeSeconds?: number;
  /** "best-effort" uses no tags. @default "auto" */
  readonly containment?: "auto" | "best-effort";
  /** Receives every start, end and kill. @default none */
  readonly events?: Events;
  /** Slots that wait for commands. @default 2 */
  readonly poolSize?: number;
}

export interface CreateShellOptions extends ShellLabel {
  readonly command: string;
  /** Absolute. */
  readonly workingDir: string;
  /** Added to the manager's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The command's stdin, passed on as fast as the command reads. @default empty */
  readonly stdin?: Readable;
  /** Callers of other scopes cannot see the shell. @default "default" */
  readonly scope?: string;
  readonly session?: string;
  /** Ends the shell with status `timeout` this long after its start. @default never; 24 h if it is durable */
  readonly timeoutMs?: number;
  /** If this process ends or is killed, the shell keeps running until its deadline. @default false */
  readonly durable?: boolean;
  /** "merged" writes both streams to stdout, in the order the command printed them. @default "split" */
  readonly streams?: "split" | "merged";
  readonly capBytes?: number;
  /** Runs the command in a new terminal, into which callers can type. @default false */
  readonly terminal?: boolean;
  /** The size of the terminal. @default 24 and 80 */
  readonly rows?: number;
  readonly cols?: number;
  /**
   * Appends to the stdout file a line that says how the shell ended, for programs that read only this file.
   * @default false
   */
  readonly trailer?: boolean;
  /** Two calls with the same key start the command only once. */
  readonly idempotencyKey?: string;
  /** The directory that a sandboxed command may write to, unless the manager has a workspace. @default workingDir */
  readonly workspace?: string;
  /** A file that the command can read inside its sandbox. */
  readonly inherits?: string;
  /** The directory of the preview in which the command runs. */
  readonly previewDir?: string;
  /** Whether the shell counts against the limit on background shells. @default true */
  readonly background?: boolean;
}

export interface ScopeFilter {
  /** @default all scopes */
  readonly scope?: string;
}
