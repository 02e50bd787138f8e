// The parsed command line of `nacre run`.
import type { ConfineOptions } from "../../sandbox/sandbox.ts";
import type { ShellManagerOptions } from "../../shell/manager-options.ts";
import type { Events } from "../../support/events.ts";
import type { EnvMode, Mode, Policy } from "../option.ts";

export interface RunPlan {
  readonly command: string;
  /** The program and its arguments; undefined if the command is one line of bash. */
  readonly argv: readonly string[] | undefined;
  /** Absolute. */
  readonly workingDir: string;
  /** Whether --cwd was left out. */
  readonly isDefaultCwd: boolean;
  /** The name of the background shell. */
  readonly name: string | undefined;
  /** The name of the session to continue. */
  readonly session: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly envMode: EnvMode;
  /** Whether --env-mode was given. */
  readonly namesEnvMode: boolean;
  readonly shellProfile: "none" | "user" | undefined;
  readonly policy: Policy;
  readonly policyFile: string | undefined;
  /** Absolute. */
  readonly auditFile: string | undefined;
  /** Receives the events for the audit log. */
  readonly events: Events | undefined;
  readonly timeoutMs: number | undefined;
  readonly mode: Mode | undefined;
  readonly json: boolean;
  readonly background: boolean;
  readonly durable: boolean;
  readonly terminal: boolean;
  readonly rows: number | undefined;
  readonly cols: number | undefined;
  readonly stdin: boolean;
  readonly dryRun: boolean;
  readonly preview: boolean;
  readonly maxPreviewBytes: number | undefined;
  readonly confine: ConfineOptions;
}

/** The manager needs no pool of slots, because it runs only one command. */
export function managerOptionsOf(plan: RunPlan): ShellManagerOptions {
  const { envMode, confine, workingDir, policyFile, auditFile, events, shellProfile } = plan;
  // Commands cannot write these files in any sandbox.
  const trustedFiles = [policyFile, auditFile].filter((file) => file !== undefined);
  return {
    poolSize: 0,
    ...(shellProfile === undefined ? {} : { shellProfile }),
    environment: { mode: envMode },
    workspace: workingDir,
    ...(trustedFiles.length === 0 ? {} : { trustedFiles }),
    ...(events === undefined ? {} : { events }),
    ...confine,
  };
}
