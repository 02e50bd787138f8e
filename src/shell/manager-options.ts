// What a manager and a start can be told.
import type { Readable } from "node:stream";
import type { EnvironmentMode } from "../environment/environment.ts";
import type { ConfineOptions } from "../sandbox/sandbox.ts";
import type { Events } from "../support/events.ts";

export interface ShellManagerOptions extends ConfineOptions {
  /** Where shells are kept on disk. @default NACRE_HOME, else the XDG state directory */
  readonly stateRoot?: string;
  /** What commands inherit of this process's environment, and what is set for them. */
  readonly environment?: {
    /** @default "safe" */
    readonly mode?: EnvironmentMode;
    readonly include?: readonly string[];
    readonly exclude?: readonly string[];
    readonly set?: Readonly<Record<string, string>>;
  };
  /** Files of the host program that sandboxed commands must not write, wherever they lie: its rules, its audit log. */
  readonly trustedFiles?: readonly string[];
  /** An absolute path of bash. @default the first one in PATH */
  readonly shellPath?: string;
  /** Commands may only start inside these. @default anywhere */
  readonly allowedRoots?: readonly string[];
  /** Disk cap of one output stream. @default 2 GiB */
  readonly capBytes?: number;
  /** Live background shells per scope. @default 64 */
  readonly maxLiveShells?: number;
  /** Sessions with a bash at a time. @default 32 */
  readonly maxSessions?: number;
  /** Between TERM and KILL. @default 2000 */
  readonly killGraceMs?: number;
  /** Finished shells together. @default 10 GiB */
  readonly quotaBytes?: number;
  /** Finished shells are swept after this. @default 3600 */
  readonly finishedMaxAgeSeconds?: number;
  /** "best-effort" does without tags. @default "auto" */
  readonly containment?: "auto" | "best-effort";
  /** Told of every start, end and kill. @default nobody is told */
  readonly events?: Events;
  /** Shells kept ready. @default 2 */
  readonly poolSize?: number;
}

export interface CreateShellOptions {
  readonly command: string;
  /** Absolute. */
  readonly workingDir: string;
  /** On top of the manager's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads as its stdin; the stream is passed on as fast as it reads. @default nothing */
  readonly stdin?: Readable;
  /** Who owns it: callers of other scopes cannot see it. @default "default" */
  readonly scope?: string;
  readonly session?: string;
  /** Ends the shell with status `timeout` this long after its start. @default never; 24 h if it is durable */
  readonly timeoutMs?: number;
  /** Lives on when this process ends or is killed, until its deadline. @default false */
  readonly durable?: boolean;
  /** "merged" keeps the true order of both streams, in stdout. @default "split" */
  readonly streams?: "split" | "merged";
  readonly capBytes?: number;
  /** Ends stdout's file with a line that says how it ended, for whoever reads only that file. @default false */
  readonly trailer?: boolean;
  /** Two starts with one key are one run. */
  readonly idempotencyKey?: string;
  /** The directory that a sandbox lets it write to, where the manager names none. @default workingDir */
  readonly workspace?: string;
  /** A file that is to be seen in its sandbox, too. */
  readonly inherits?: string;
  /** Whether it counts against the limit on background shells. @default true */
  readonly background?: boolean;
}
