// Where shells are kept on disk: the state root and the files of one shell. Memory is only a cache of this.
import { accessSync, chmodSync, constants, readdirSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { makeDirs } from "../support/make-dirs.ts";

/** NACRE_HOME, else $XDG_STATE_HOME/nacre, else ~/.local/state/nacre. */
export function defaultStateRoot(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const chosen = env["NACRE_HOME"];
  if (chosen) {
    // Another one in every directory would lose shells.
    if (isAbsolute(chosen)) return chosen;
    throw new NacreError("spawn_failed", `NACRE_HOME must be an absolute path; it is ${chosen}.`);
  }
  const xdg = env["XDG_STATE_HOME"];
  // The XDG specification says that a relative path is to be ignored.
  if (xdg && isAbsolute(xdg)) return join(xdg, "nacre");
  return join(homeOf(), ".local", "state", "nacre");
}

/** Every place where nacre of this user keeps its state by default, by what is set here and by the user database. */
export function usualStateRoots(
  env: Readonly<Record<string, string | undefined>> = process.env,
  homes: readonly (() => string)[] = [homedir, () => userInfo().homedir],
): string[] {
  const own = [() => defaultStateRoot(env), () => defaultStateRoot({ ...env, NACRE_HOME: undefined })];
  const inHomes = homes.map((home) => () => join(home(), ".local", "state", "nacre"));
  const roots = [...own, ...inHomes].flatMap((find) => attempt(find) ?? []);
  return [...new Set(roots.filter(isAbsolute))];
}

function homeOf(): string {
  let home = "";
  try {
    home = homedir();
  } catch {
    // Neither HOME nor an entry in the user database.
  }
  if (isAbsolute(home)) return home;
  throw new NacreError(
    "spawn_failed",
    "There is no home directory to keep shells in: set HOME, or NACRE_HOME to a directory you own.",
  );
}

/** The files of one shell. */
export interface ShellFiles {
  readonly dir: string;
  /** The command text, as bash reads it. */
  readonly command: string;
  readonly meta: string;
  /** Written by the shim: who runs it, see identity.ts. */
  readonly identity: string;
  /** The exit record and the cause, see end-record.ts. */
  readonly record: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Exists where the shell outlives its host, see durable-mark.ts. */
  readonly durable: string;
  /** Exists where the shim is to end stdout's file with a line about the end. */
  readonly trailer: string;
  /** Why the command could not begin, written by the bash that should have run it. */
  readonly fault: string;
  /** Exists where the bash is to do something before the command: limits, a sandbox. */
  readonly start: string;
  /** What bwrap tells of itself, where it confines the shell. */
  readonly sandboxStatus: string;
  /** What is to be said of the end besides the record, if anything. A line each. */
  readonly remarks: string;
}

/** Of the file that the first logger of a shell writes to. */
export const STDOUT_NAME = "out";

export class StateRoot {
  readonly path: string;
  readonly shellsDir: string;
  readonly keepersDir: string;

  constructor(path: string) {
    this.path = path;
    this.shellsDir = join(path, "shells");
    this.keepersDir = join(path, "keepers");
  }

  /** Creates what is missing, private to this user; says clearly what is wrong with a root that cannot serve. */
  ensure(): void {
    if (!isAbsolute(this.path)) {
      throw new NacreError("spawn_failed", `The state directory must be an absolute path: ${this.path}`);
    }
    try {
      makeDirs(this.path);
      const stat = statSync(this.path);
      if (!stat.isDirectory()) throw new Error("it is not a directory");
      const uid = process.getuid?.();
      if (uid !== undefined && stat.uid !== uid)
        throw new Error(`it belongs to another user (uid ${stat.uid})`);
      // Output may hold secrets: others get no look, also where the directory existed before.
      if ((stat.mode & 0o077) !== 0) chmodSync(this.path, 0o700);
      for (const dir of [this.shellsDir, this.keepersDir]) {
        makeDirs(dir);
        if (!statSync(dir).isDirectory()) throw new Error(`${dir} is not a directory (remove that file)`);
        accessSync(dir, constants.W_OK | constants.X_OK);
      }
    } catch (cause) {
      throw new NacreError(
        "spawn_failed",
        `The state directory ${this.path} cannot be used: ${messageOf(cause)}. Set NACRE_HOME to a directory you own.`,
        { cause },
      );
    }
  }

  files(id: string): ShellFiles {
    const dir = join(this.shellsDir, id);
    return {
      dir,
      command: join(dir, "cmd"),
      meta: join(dir, "meta"),
      identity: join(dir, "identity"),
      record: join(dir, "record"),
      stdout: join(dir, STDOUT_NAME),
      stderr: join(dir, "err"),
      durable: join(dir, "durable"),
      trailer: join(dir, "trailer"),
      fault: join(dir, "fault"),
      start: join(dir, "start"),
      sandboxStatus: join(dir, "sandbox.status"),
      remarks: join(dir, "remarks"),
    };
  }

  /** Ids of all shells on disk, slots that wait for a job included. */
  list(): string[] {
    try {
      return readdirSync(this.shellsDir);
    } catch {
      return [];
    }
  }
}
