// What is left of the words of `nacre run` once they are understood.
import type { ConfineOptions } from "../../sandbox/sandbox.ts";
import type { ShellManagerOptions } from "../../shell/manager-options.ts";
import type { EnvMode, Mode, Policy } from "../option.ts";

export interface RunPlan {
  readonly command: string;
  /** The command as single words, where it was given so. */
  readonly argv: readonly string[] | undefined;
  /** Absolute. */
  readonly workingDir: string;
  /** The call names no directory: it is where the caller is. */
  readonly isHere: boolean;
  /** A name: goes on where the last command of that session left. */
  readonly session: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly envMode: EnvMode;
  /** The call names it: it is not the default. */
  readonly namesEnvMode: boolean;
  readonly policy: Policy;
  readonly policyFile: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly mode: Mode | undefined;
  readonly json: boolean;
  readonly background: boolean;
  readonly durable: boolean;
  readonly stdin: boolean;
  readonly dryRun: boolean;
  readonly confine: ConfineOptions;
}

/** One command is all there will be: nothing is kept ready for a second one. */
export function managerOptionsOf({ envMode, confine, workingDir, policyFile }: RunPlan): ShellManagerOptions {
  return {
    poolSize: 0,
    environment: { mode: envMode },
    workspace: workingDir,
    ...(policyFile === undefined ? {} : { trustedFiles: [policyFile] }),
    ...confine,
  };
}
