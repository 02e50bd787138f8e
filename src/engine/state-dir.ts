// The state root: every name of a file, directory or fifo below it, and the root itself. The code that writes a file
// describes its content. The bash scripts use the same names literally; test/engine/state-dir.test.ts compares them.
//
//   <root>/shells/<id>/           SHELL_NAMES, and for a session SESSION_NAMES
//   <root>/keepers/<pid>-<hex>/   KEEPER_NAMES: one directory per host process, named after its PID
//   <root>/sessions/              NAME.json, NAME.lock (session-file.ts)
//   <root>/previews/<id>/         PREVIEW_NAMES: one preview; previews/pending/ names unfinished commits
//   <root>/files/                 FILES_NAMES: locks and unfinished writes of the file tools
//   <root>/profiles/, unreported/  owned by run-profile.ts and shell/finished-shells.ts
//   <root>/swept                  a file, owned by swept-ids.ts
//   <root>/approvals/             APPROVAL_NAMES: requests and answers (approvals/approval-store.ts)
//   <root>/remembered/            remembered answers (approvals/remembered-store.ts)
//   <root>/ui/                    owned by ui/redirect-file.ts
//   <root>/serve/                 SERVE_NAMES: the daemons of remote clients
//   <root>/sandbox/, code-cache/, spare-shells/  owned by sandbox/, cli/code-cache.ts and spare-dirs.ts
import { randomBytes } from "node:crypto";
import { accessSync, chmodSync, constants, readdirSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { SpareDirs } from "./spare-dirs.ts";

/** Names in the state root: directories, and the file of swept ids. */
export const ROOT_NAMES = {
  shells: "shells",
  keepers: "keepers",
  sessions: "sessions",
  files: "files",
  previews: "previews",
  sandbox: "sandbox",
  codeCache: "code-cache",
  spareShells: "spare-shells",
  /** Answers of the user's shell about its environment, kept only while that shell runs (run-profile.ts). */
  profiles: "profiles",
  /** Background shells whose end is not reported yet (shell/finished-shells.ts). */
  unreported: "unreported",
  /** The ids of removed shells (swept-ids.ts). */
  swept: "swept",
  approvals: "approvals",
  remembered: "remembered",
  /** The files through which a browser opens the page (ui/redirect-file.ts). */
  ui: "ui",
  /** Sockets and locks of the daemons that serve remote clients (remote/server/). */
  serve: "serve",
} as const;

/** Files in the directory of the daemons. `name`: serveName. */
export const SERVE_NAMES = {
  socket: (name: string) => `${name}.sock`,
  lock: (name: string) => `${name}.lock`,
  /** Why the last start failed. */
  log: (name: string) => `${name}.log`,
} as const;

/** Files in the directory of one shell. */
export const SHELL_NAMES = {
  /** The command text, which bash reads as its script. */
  command: "cmd",
  meta: "meta",
  /** The PIDs of shim and command (identity.ts). The shim writes it. */
  identity: "identity",
  /** The exit record and the cause (end-record.ts). */
  record: "record",
  stdout: "out",
  stderr: "err",
  /** Exists if the shell outlives its host (durable-mark.ts). */
  durable: "durable",
  /** Exists if the shim must append a line about the end to stdout's file. */
  trailer: "trailer",
  /** Why the command could not begin. The bash that should have run the command writes it. */
  fault: "fault",
  /** The start script: sets limits, or starts a sandbox, before the command. */
  start: "start",
  /** Files of bwrap: its status, its arguments, and its error messages if nacre may have to start it again. */
  sandboxStatus: "sandbox.status",
  sandboxArgs: "sandbox.args",
  sandboxErrors: "sandbox.errors",
  /** Remarks about the end in addition to the record, one per line. */
  remarks: "remarks",
  /** When output arrived (output-times.ts). */
  times: "times",
  /** The later sizes of a terminal, each with the position in its output (terminal/sizes.ts). */
  sizes: "sizes",
} as const;

/** More files of a session, in the directory of its shell or in the scratch directory there. */
export const SESSION_NAMES = {
  /** The directory that a sandboxed bash can write to. Do not trust anything in it. */
  scratch: "scratch",
  /** A saved state (session/saved-states.ts). */
  state: (index: number) => `state.${index}`,
  /** The script that restores the saved state in a new bash. */
  restore: (token: string) => `restore.${token}`,
  /** The script that gives a background shell the state of its session. */
  inherit: (number: number) => `inherit.${number}`,
  hidden: "hidden",
  /** The environment after the profile. */
  profileEnvironment: "profile-env",
  /** The record of a further bash in the same sandbox. */
  record: (number: number) => `record.${number}`,
  /** The output of further loggers. */
  stdout: (number: number) => `out.${number}`,
  stderr: (number: number) => `err.${number}`,
  /** A copy of one command's part of an output file. */
  copy: (outputFile: string, number: number) => `${basename(outputFile).split(".")[0]}.c${number}`,
} as const;

/** Files in the directory of a keeper. */
export const KEEPER_NAMES = {
  /** The process that acts as the keeper. */
  identity: "identity",
  /** The directories of all shells that may be alive. */
  covered: "covered",
  /** A link to cat, so that `pkill cat` spares the loggers. */
  logger: "nacre-log",
  scripts: "scripts",
  /** A directory with the fifos of one sandboxed session (fifo-dir.ts). */
  fifoDir: (number: number) => `fifos.${number}`,
  loggerFifo: (number: number) => `log.${number}`,
} as const;

/** Directories in the directory of the file tools. */
export const FILES_NAMES = {
  /** One link per file that is being written. The link's name is the hash of the file's path. */
  locks: "locks",
  /** One link to each temporary file (files/unfinished-writes.ts). */
  unfinished: "unfinished",
} as const;

/** Files of one approval request. Each is complete when it appears. */
export const APPROVAL_NAMES = {
  request: (id: string) => `${id}.json`,
  /** The first answer. Created once, never changed. */
  answer: (id: string) => `${id}.answer.json`,
  /** The call that used the answer. Created once, never changed. */
  use: (id: string) => `${id}.used.json`,
} as const;

/** Files in the directory of the remembered answers. */
export const REMEMBERED_NAMES = {
  answer: (id: string) => `${id}.json`,
  /** Records when an answer was made, used and removed (audit/audit-log.ts). */
  audit: "audit.jsonl",
} as const;

/** Files and directories of one preview. */
export const PREVIEW_NAMES = {
  /** The command and the status of the preview (preview/preview-record.ts). */
  record: "preview.json",
  changes: "changes.json",
  /** The layers of the overlay (sandbox/overlay.ts). `lower` is a link to the workspace. */
  lower: "lower",
  upper: "upper",
  work: "work",
  /** Paths in `upper` that nacre created before the start. */
  planted: "planted.json",
  /** Files of the workspace with several names (preview/hard-links.ts). */
  linked: "linked.json",
  /** The n-th commit, with the names below. */
  commit: (number: number) => `commit.${number}`,
  journal: "journal.json",
  /** Entries that a commit will move into the workspace, and entries that have left it. */
  incoming: "in",
  outgoing: "out",
  /** Entries that an undo took out of the workspace. */
  undone: "undone",
  /** In the directory of all previews: one link per transaction that has begun and not ended. */
  pending: "pending",
} as const;

/** Suffix of a file that is written completely before it replaces another one. */
export const NEW_SUFFIX = ".new";
/** Suffix of a copy that replaces a removed file. */
export const RESTORED_SUFFIX = ".restored";

/** The link that names the n-th owner of a shell (lease.ts). */
export const ownerName = (number: number): string => `owner.${number}`;

export function ownerNumber(name: string): number {
  return Number(/^owner\.(\d+)$/.exec(name)?.[1] ?? 0);
}

/** The PID in the name of a keeper's directory. */
export function hostPidOf(keeperDirName: string): number {
  return Number(/^(\d+)-/.exec(keeperDirName)?.[1] ?? 0);
}

/** The PID of the host whose keeper, deputy or shim has this command line. */
export function hostPidIn(commandLine: string): number | undefined {
  const pid = /\/keepers\/(\d+)-[0-9a-f]+ /.exec(commandLine)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/** undefined if this is not the path of a keeper's directory. */
export function rootOfKeeper(keeperDir: string): string | undefined {
  const keepers = dirname(keeperDir);
  return isAbsolute(keeperDir) && basename(keepers) === ROOT_NAMES.keepers ? dirname(keepers) : undefined;
}

/** NACRE_HOME, else $XDG_STATE_HOME/nacre, else ~/.local/state/nacre. */
export function defaultStateRoot(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const chosen = env["NACRE_HOME"];
  if (chosen) {
    // Reject a relative path: it would mean another root in every directory, and nacre would lose shells.
    if (isAbsolute(chosen)) return chosen;
    throw new NacreError("spawn_failed", `NACRE_HOME must be an absolute path; it is ${chosen}.`);
  }
  const xdg = env["XDG_STATE_HOME"];
  // The XDG specification says to ignore a relative path.
  if (xdg && isAbsolute(xdg)) return join(xdg, "nacre");
  return rootInHome(homeOf());
}

/** Every default state root of this user, according to the environment and the user database. */
export function usualStateRoots(
  env: Readonly<Record<string, string | undefined>> = process.env,
  homes: readonly (() => string)[] = [homedir, () => userInfo().homedir],
): string[] {
  const own = [() => defaultStateRoot(env), () => defaultStateRoot({ ...env, NACRE_HOME: undefined })];
  const inHomes = homes.map((home) => () => rootInHome(home()));
  const roots = [...own, ...inHomes].flatMap((find) => attempt(find) ?? []);
  return [...new Set(roots.filter(isAbsolute))];
}

function rootInHome(home: string): string {
  return join(home, ".local", "state", "nacre");
}

function homeOf(): string {
  // homedir() throws if neither HOME nor an entry in the user database exists.
  const home = attempt(homedir) ?? "";
  if (isAbsolute(home)) return home;
  throw new NacreError(
    "spawn_failed",
    "There is no home directory to keep shells in: set HOME, or NACRE_HOME to a directory you own.",
  );
}

/** The paths of SHELL_NAMES, and of their directory. */
export type ShellFiles = Readonly<Record<"dir" | keyof typeof SHELL_NAMES, string>>;

export class StateRoot {
  readonly path: string;
  readonly shellsDir: string;
  readonly keepersDir: string;
  readonly spareShellDirs: SpareDirs;

  constructor(path: string) {
    this.path = path;
    this.shellsDir = join(path, ROOT_NAMES.shells);
    this.keepersDir = join(path, ROOT_NAMES.keepers);
    this.spareShellDirs = new SpareDirs(join(path, ROOT_NAMES.spareShells));
  }

  /** Creates missing directories, private to this user. Throws an error that says why the root cannot be used. */
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
      // Output can contain secrets: make an existing directory private as well.
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

  /** A new directory name for the keepers of this process, which share one directory. */
  newKeeperDir(): string {
    return join(this.keepersDir, `${process.pid}-${randomBytes(4).toString("hex")}`);
  }

  files(id: string): ShellFiles {
    const dir = join(this.shellsDir, id);
    const paths = Object.entries(SHELL_NAMES).map(([key, name]) => [key, join(dir, name)]);
    return { dir, ...(Object.fromEntries(paths) as Omit<ShellFiles, "dir">) };
  }

  /** The ids of all shells on disk, including slots that wait for a job. */
  list(): string[] {
    return attempt(() => readdirSync(this.shellsDir)) ?? [];
  }
}
