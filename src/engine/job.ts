// How the variables of a command reach it: with the job where the waiting bash can take them, else in a
// slot that is started with them.

import { JOB_MAX_BYTES } from "../support/limits.ts";
import { bytesOfText } from "../support/path-text.ts";
import { directoryField, encodeFields } from "./protocol.ts";

/** What the host sends to a waiting bash (engine/hook.sh). */
export interface Job {
  readonly workingDir: string;
  /** The BASH_ENV the command is to have; "" for none. */
  readonly bashEnv: string;
  /** "rest": it reads what follows the job in its pipe. "": nothing. */
  readonly stdin: "" | "rest";
  /** NAME=VALUE pairs on top of the slot's environment; names must be shell identifiers. */
  readonly variables: readonly string[];
}

/** The bytes of a job. The empty field wakes the bash, which waits for nothing else with a timeout. */
export function encodeJob({ workingDir, bashEnv, stdin, variables }: Job): Buffer {
  // Only the directory may hold bytes that are no text.
  const rest = encodeFields([bashEnv, stdin, String(variables.length), ...variables]).toWellFormed();
  return bytesOfText(`${encodeFields(["", directoryField(workingDir)])}${rest}`);
}

export interface PlannedJob {
  readonly job: Job;
  /** The whole environment of the slot, where it is not the base one. */
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

/** What slots are started with. */
export function baseEnvironmentOf(base: Variables): string[] {
  return pairs(partition(base, isLate)[0]);
}

function pairs(variables: Variables): string[] {
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}

/**
 * Variables that would keep a starting bash from waiting for its job: it gets them with the job. Those of the loader, too:
 * they may name a file that a sandboxed command can write, and this bash is outside of the sandbox.
 */
function isLate(name: string): boolean {
  return name === "BASH_ENV" || name === "POSIXLY_CORRECT" || name === "TMOUT" || /^LD_/.test(name);
}

function partition(
  variables: Variables,
  belongs: (name: string) => boolean,
): [Record<string, string>, Record<string, string>] {
  // Not by assignment: __proto__ is a name like any other.
  const those = (wanted: boolean) =>
    Object.fromEntries(Object.entries(variables).filter(([name]) => belongs(name) === wanted));
  return [those(false), those(true)];
}

/** Names a running bash can set and export as they are. */
function canBeExported(name: string): boolean {
  return (
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) &&
    !/^(UID|EUID|PPID|BASH.*|IFS|FUNCNAME|GROUPS|DIRSTACK|RANDOM|SRANDOM|SECONDS|EPOCH.*|LINENO|OLDPWD|PWD|__nacre_.*)$/.test(
      name,
    )
  );
}
