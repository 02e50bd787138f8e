// The notes that a session adds to results, one line each. Text only.

import type { Survivor } from "../shell/kill-report.ts";
import { describeOutcome, type Outcome } from "../shell/outcome.ts";
import { NacreError } from "../support/errors.ts";
import { NOTE_NAMES_MAX_COUNT } from "../support/limits.ts";
import { shownPath } from "../support/path-text.ts";
import type { MissingCommands } from "./bash-state.ts";

const KEPT = "the directory, variables, functions, aliases, options, umask and traps";

/** What replaces a bash that has ended. "reset": a bash of a restarted session. */
export type NextBash = "successor" | "successor without state" | "reset" | "none";

/** For a command that ended its bash, or that ended because its bash did. */
export function restartedNotes(how: { readonly wedged: boolean; readonly next: NextBash }): string[] {
  const why = how.wedged ? "could not take another command after this one" : "ended with this command";
  switch (how.next) {
    case "successor":
      return [
        `The session's bash ${why}. A new one continues with ${KEPT} from before the command; set -e, -u and -x are off.`,
      ];
    case "successor without state":
      return [
        `The session's bash ${why}. A new one continues in the same directory; the rest of its state is lost.`,
      ];
    case "reset":
      return [
        "The session was restarted. A new bash starts in the session's original directory with clean state.",
      ];
    case "none":
      return [];
  }
}

/** For a bash that could not write its state to disk. The running bash still has this state. */
export function unsavedNote(dir: string, why: string, isFull: boolean): string {
  const help = isFull
    ? "Free space on that disk, or set NACRE_HOME to a directory on another disk"
    : "Make that directory writable";
  return `The session's state could not be saved in ${dir}: ${why}. It is lost if the session's bash ends. ${help}; the next command saves it again.`;
}

/** For the next bash, if it gets an older state. */
export function staleNotes(missing: MissingCommands | undefined): string[] {
  if (missing === undefined || missing.commands === 0) return [];
  const { commands, why } = missing;
  const which = commands === 1 ? "the command" : `the ${commands} commands`;
  return [
    `That state lacks the changes of ${which} before this one, because they could not be saved (${why}).`,
  ];
}

/** What the new bash failed to restore from the saved state. */
export function unrestoredNotes(names: readonly string[] | "unknown" | NacreError): string[] {
  if (names instanceof NacreError)
    return [`The new bash could not be started yet: ${names.message} The next command tries again.`];
  if (names === "unknown")
    return ["The new bash is not ready yet. The next command names what it could not restore."];
  if (names.length === 0) return [];
  return [`Not restored in the new bash, set it again if you need it: ${listed(names)}.`];
}

/** What a background shell did not inherit from its session. */
export function uninheritedNotes(names: readonly string[] | "unknown"): string[] {
  if (names === "unknown")
    return [
      "The shell takes long to start: it is not known whether it inherits all functions and exports of its session.",
    ];
  if (names.length === 0) return [];
  return [
    `Not inherited from the session, set it again in the command if it needs it: ${listed(names)}. All other functions, exports and shell options are there.`,
  ];
}

/** For a background shell that gets an older state of its session. */
export function staleStartNotes(missing: MissingCommands | undefined): string[] {
  if (missing === undefined || missing.commands === 0) return [];
  const which = missing.commands === 1 ? "the last command" : `the last ${missing.commands} commands`;
  return [
    `Not inherited from the session: the changes of ${which}, because the session's state could not be saved (${missing.why}). Set them again in the command if it needs them.`,
  ];
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, NOTE_NAMES_MAX_COUNT).join(", ");
  return names.length > NOTE_NAMES_MAX_COUNT
    ? `${shown}, and ${names.length - NOTE_NAMES_MAX_COUNT} more`
    : shown;
}

/** For a bash that ended between two commands. */
export function foundDeadNote(outcome: Outcome | undefined): string {
  const how = outcome ? ` (${describeOutcome(outcome)})` : "";
  return `The session's bash had ended${how}. A new one continues with ${KEPT} as last saved; the new bash does not know the jobs of the old one.`;
}

export function failedToStartNote(profile: string | undefined): string {
  if (profile !== undefined)
    return `The session's profile (${shownPath(profile)}) ended its bash, or took too long; the session continues without it.`;
  return "The session's saved state could not be restored; this command ran in a new bash without it.";
}

export function goneDirectoryNote(gone: string, instead: string): string {
  return gone === instead
    ? `The working directory ${shownPath(gone)} had been removed and created again; this command ran in the new one.`
    : `The working directory ${shownPath(gone)} is gone; this command ran in ${shownPath(instead)}.`;
}

export function removedSpoolNote(dir: string): string {
  return `The directory ${dir}, which keeps the session's output and saved state, had been removed. It was created again; files that earlier results named are gone.`;
}

export function removedFilesNote(dir: string): string {
  return `Files in ${dir}, which keep the session's output, had been removed or replaced. They were restored with all output so far.`;
}

export function lostFilesNote(dir: string, why: string): string {
  return `Files in ${dir}, which keep the output of earlier commands of the session, had been removed and cannot be restored: ${why}. The output of this command goes to other files.`;
}

export function lostSpoolNote(dir: string, why: string): string {
  return `The directory ${dir}, which keeps the session's output and saved state, was removed and cannot be created again: ${why}. The exit code is right; the output of this command is lost.`;
}

export function outsideNote(outside: string, back: string): string {
  return `${shownPath(outside)} is outside the allowed directories; the next command runs in ${shownPath(back)}.`;
}

export function detachedNote(id: string): string {
  return `The command continues as background shell ${id}; the session has a new bash with the state from before the command.`;
}

/** For a logger that has ended, if nacre could start no other one in its place. */
export function discardedNote(why: string): string {
  return `Output lost: the process that stores it ended, and no other one could be started: ${why} The exit code is right; the next command tries again.`;
}

export function mixedNote(): string {
  return "The output may contain text of processes that earlier commands left running: no other logger could be started.";
}

export function survivorNote({ pid, command, reason }: Survivor): string {
  return `Process ${pid} (${command}) could not be ended: ${reason}.`;
}
