// The constructor options of a shell (shell-process.ts). The type is generic, so that this file need not import the
// class.
import type { ShellScope } from "../engine/process-scope.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import type { KillReport } from "./kill-report.ts";

export interface TrackedShellOptions<Shell> {
  /** Finds the shell's processes. */
  readonly processes: ShellScope;
  readonly started: StartedShell;
  readonly command: string;
  /** The time between TERM and KILL. @default KILL_GRACE_MS */
  readonly graceMs?: number;
  /** The directories in which a caller can wait for a file. @default any directory */
  readonly allowedRoots?: readonly string[] | undefined;
  /** How long ago the shell began. @default 0, just now */
  readonly ageMs?: number;
  /** Whether a session reports the end, after it has drained loggers that the shim does not know. @default false */
  readonly endIsReported?: boolean;
  /** Called once, when the shell has ended. */
  readonly onEnd: (shell: Shell) => void;
  /** Called with the report of every kill. */
  readonly onKill?: (shell: Shell, by: string, report: KillReport) => void;
}
