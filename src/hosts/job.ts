// How the variables of a command reach it: with the job where the waiting bash can take them, else in a
// slot that is started with them.
import type { Job } from "../keeper/keeper.ts";
import { encodeFields } from "../keeper/protocol.ts";
import { JOB_MAX_BYTES } from "../support/limits.ts";

export interface PlannedJob {
  readonly job: Job;
  /** The whole environment of the slot, where it is not the base one. */
  readonly environment: readonly string[] | undefined;
}

type Variables = Readonly<Record<string, string>>;

export function jobOf(
  plan: { readonly workingDir: string; readonly variables: Variables; readonly stdin?: string | undefined },
  base: Variables,
): PlannedJob {
  const { workingDir, variables, stdin = "" } = plan;
  const [baseEarly, baseLate] = partition(base, isLate);
  const [early, ownLate] = partition(variables, isLate);
  const { BASH_ENV: bashEnv = "", ...late } = { ...baseLate, ...ownLate };
  const job = { workingDir, bashEnv, stdin, variables: pairs({ ...early, ...late }) };
  const simple = Object.keys(early).every(canBeExported);
  if (
    simple &&
    Buffer.byteLength(encodeFields([workingDir, bashEnv, stdin, "0000", ...job.variables])) <= JOB_MAX_BYTES
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

/** Variables that would keep a starting bash from waiting for its job: it gets them with the job. */
function isLate(name: string): boolean {
  return name === "BASH_ENV" || name === "POSIXLY_CORRECT" || name === "TMOUT";
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
