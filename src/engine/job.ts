// Decides how a command gets its variables: in the job if the waiting bash can set them, else in the environment of a
// slot that nacre starts for this command.

import { JOB_MAX_BYTES } from "../support/limits.ts";
import { bytesOfText } from "../support/path-text.ts";
import { directoryField, encodeFields } from "./protocol.ts";

/** The message that the host sends to a waiting bash (hook.sh). */
export interface Job {
  readonly workingDir: string;
  /** The command's BASH_ENV; "" for none. */
  readonly bashEnv: string;
  /**
   * "rest": stdin follows the job in the same pipe. "keep": the pipe is the input of a terminal. "": stdin is empty.
   */
  readonly stdin: "" | "rest" | "keep";
  /** NAME=VALUE pairs, added to the slot's environment; names must be shell identifiers. */
  readonly variables: readonly string[];
}

/** The first, empty field wakes the waiting bash (hook.sh). */
export function encodeJob({ workingDir, bashEnv, stdin, variables }: Job): Buffer {
  // Only the directory can contain bytes that are not UTF-8.
  const rest = encodeFields([bashEnv, stdin, String(variables.length), ...variables]).toWellFormed();
  return bytesOfText(`${encodeFields(["", directoryField(workingDir)])}${rest}`);
}

export interface PlannedJob {
  readonly job: Job;
  /** The whole environment of the slot; undefined for the base environment. */
  readonly environment: readonly string[] | undefined;
}

type Variables = Readonly<Record<string, string>>;

export function jobOf(
  plan: { readonly workingDir: string; readonly variables: Variables; readonly stdin: Job["stdin"] },
  base: Variables,
): PlannedJob {
  const { workingDir, variables, stdin } = plan;
  const [baseEarly, baseLate] = partition(base, isLate);
  const [early, ownLate] = partition(variables, isLate);
  const { BASH_ENV: bashEnv = "", ...late } = { ...baseLate, ...ownLate };
  const job = { workingDir, bashEnv, stdin, variables: pairs({ ...early, ...late }) };
  const simple = Object.keys(early).every(canBeExported);
  if (
    simple &&
    Buffer.byteLength(
      encodeFields(["", directoryField(workingDir), bashEnv, stdin, "0000", ...job.variables]),
    ) <= JOB_MAX_BYTES
  ) {
    return { job, environment: undefined };
  }
  return { job: { ...job, variables: pairs(late) }, environment: pairs({ ...baseEarly, ...early }) };
}

/** The environment of slots in the pool. */
export function baseEnvironmentOf(base: Variables): string[] {
  return pairs(partition(base, isLate)[0]);
}

function pairs(variables: Variables): string[] {
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}

/**
 * Whether bash must get this variable only with the job. Some variables would prevent a bash that starts with them
 * from waiting for its job. The loader's variables (LD_*) can name a file that a sandboxed command can write, and the
 * waiting bash would load that file outside the sandbox.
 */
function isLate(name: string): boolean {
  return name === "BASH_ENV" || name === "POSIXLY_CORRECT" || name === "TMOUT" || /^LD_/.test(name);
}

function partition(
  variables: Variables,
  belongs: (name: string) => boolean,
): [Record<string, string>, Record<string, string>] {
  // Do not assign properties: a variable can be called __proto__.
  const select = (wanted: boolean) =>
    Object.fromEntries(Object.entries(variables).filter(([name]) => belongs(name) === wanted));
  return [select(false), select(true)];
}

/** Whether a running bash can set and export a variable of this name. */
function canBeExported(name: string): boolean {
  return (
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) &&
    !/^(UID|EUID|PPID|BASH.*|IFS|FUNCNAME|GROUPS|DIRSTACK|RANDOM|SRANDOM|SECONDS|EPOCH.*|LINENO|OLDPWD|PWD|__nacre_.*)$/.test(
      name,
    )
  );
}
