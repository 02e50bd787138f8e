// Prepares a command of a session: puts removed output files back, chooses the directory and the loggers, and plans the
// message for bash. Remarks about these steps go into the notes of the result.
import { dirname } from "node:path";
import { isDiskFull } from "../engine/disk-space.ts";
import { StateRoot } from "../engine/state-dir.ts";
import { buildEnvironment } from "../environment/environment.ts";
import { spoolFullRemark } from "../shell/lost-output.ts";
import { messageOf } from "../support/errors.ts";
import { checkSettable } from "../support/start-checks.ts";
import { isFull } from "../support/system-error.ts";
import type { SessionBash } from "./session-bash.ts";
import type { CommandPlan, NewOutputs } from "./session-harness.ts";
import type { SessionLineage } from "./session-lineage.ts";
import { meaningChange } from "./session-meaning.ts";
import * as note from "./session-notes.ts";
import type { RunOptions, SessionDeps } from "./session-options.ts";

/** One attempt to run a command in one bash. */
export interface RunContext {
  readonly deps: SessionDeps;
  readonly lineage: SessionLineage;
  readonly bash: SessionBash;
  readonly command: string;
  readonly options: RunOptions;
  /** A directory to change to before the command. */
  readonly changeTo: string | undefined;
  /** Notes for the result, some of them from earlier attempts. */
  readonly notes: string[];
}

/** Returns a promise only if bash must switch to other loggers. All other commands are sent without delay. */
export function planCommand(context: RunContext, number: number): CommandPlan | Promise<CommandPlan> {
  const { bash, notes } = context;
  restoreBefore(bash, notes);
  const changeTo = directoryOf(context);
  const switching = bash.output.begin(bash.started.commandPid);
  if (!switching) return planWith(context, number, changeTo, undefined);
  return outputsOf(bash, switching, notes).then((outputs) => planWith(context, number, changeTo, outputs));
}

function planWith(
  { lineage, bash, command, options }: RunContext,
  number: number,
  changeTo: string | undefined,
  outputs: NewOutputs | undefined,
): CommandPlan {
  const { suspendedSettings, prefix, reachesHighFds } = bash.state;
  const { meaning, lastCode } = lineage;
  return {
    number,
    command,
    lastCode,
    prefix,
    suspendedSettings,
    changeTo,
    env: options.env ?? {},
    outputs,
    hasHighFds: reachesHighFds && !meaning?.facts.functions.includes("exec"),
    // The harness needs the disabled builtins after the command, and only the full report enables them again.
    meaningChange: suspendedSettings.disabled.length > 0 ? "everything" : meaningChange(command, meaning),
  };
}

/**
 * Puts removed files back. Throws if that fails, because the command's output would be lost. Does not throw on a full
 * disk.
 */
function restoreBefore(bash: SessionBash, notes: string[]): void {
  const { dir } = bash.started.files;
  try {
    restore(bash, notes);
  } catch (cause) {
    new StateRoot(dirname(dirname(dir))).ensure();
    // The disk is full. Let the command run with other loggers, because it may free space.
    if (!isFull(cause)) throw cause;
    notes.push(note.lostFilesNote(dir, messageOf(cause)));
  }
}

/** Puts back files that the command or another process removed. Does not throw: the command has already run. */
export function restoreAfter(bash: SessionBash, notes: string[]): void {
  try {
    restore(bash, notes);
  } catch (cause) {
    notes.push(note.lostSpoolNote(bash.started.files.dir, messageOf(cause)));
  }
}

function restore(bash: SessionBash, notes: string[]): void {
  const { dir } = bash.started.files;
  const restored = bash.output.restoreFiles();
  if (restored === "directory") notes.push(note.removedSpoolNote(dir));
  if (restored === "files") notes.push(note.removedFilesNote(dir));
}

/**
 * The directory to which bash has to change first: the one that the call names or, if bash's directory was removed, the
 * nearest existing directory above it.
 */
function directoryOf({ lineage: { directory }, bash, changeTo, notes }: RunContext): string | undefined {
  if (changeTo !== undefined) {
    directory.changeTo(changeTo);
    return changeTo;
  }
  // A new bash is already in the right directory.
  if (!bash.isReady) return undefined;
  const { cwd } = directory;
  const nearest = directory.leaveRemoved(bash.started.commandPid);
  if (nearest !== undefined) notes.push(note.goneDirectoryNote(cwd, nearest));
  return nearest;
}

/** The fifos that bash has to redirect its output to, if any. */
async function outputsOf(
  { output, started }: SessionBash,
  switching: Promise<NewOutputs | undefined>,
  notes: string[],
): Promise<NewOutputs | undefined> {
  try {
    return await switching;
  } catch (cause) {
    const { dir } = started.files;
    const discarding = output.discard(started.commandPid);
    if (!discarding) notes.push(note.mixedNote());
    else notes.push(isDiskFull(dir) ? spoolFullRemark(dir) : note.discardedNote(messageOf(cause)));
    return discarding;
  }
}

/** The variables of one call, checked. */
export function checkedEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  checkSettable(env);
  return buildEnvironment({ inherited: {}, mode: "none", exclude: ["*"], set: env }).env;
}
