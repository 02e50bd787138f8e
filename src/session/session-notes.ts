// What a session says about itself, a line each. Words only.

import type { Survivor } from "../shell/kill-report.ts";
import { describeOutcome, type Outcome } from "../shell/outcome.ts";
import { NacreError } from "../support/errors.ts";
import { NOTE_NAMES_MAX_COUNT } from "../support/limits.ts";
import { shownPath } from "../support/path-text.ts";

const KEPT = "the directory, variables, functions, aliases, options, umask and traps";

export type NextBash = "its heir" | "one without its state" | "another" | "none";

/** The command has ended its bash, or was ended with it. */
export function restartedNotes(how: { readonly wedged: boolean; readonly next: NextBash }): string[] {
  const why = how.wedged ? "could not take another command after this one" : "ended with this command";
  switch (how.next) {
    case "its heir":
      return [
        `The session's bash ${why}. A new one goes on with ${KEPT} from before it; set -e, -u and -x are off.`,
      ];
    case "one without its state":
      return [
        `The session's bash ${why}. A new one goes on in the same directory; nothing else of its state could be kept.`,
      ];
    case "another":
      return ["The session was restarted. A new bash starts where it was born, with nothing of its state."];
    case "none":
      return [];
  }
}

/** What bash could not write to disk after a command. The bash that runs still has it. */
export function unsavedNote(dir: string, why: string, isFull: boolean): string {
  const help = isFull
    ? "Free space on that disk, or set NACRE_HOME to a directory on another disk"
    : "Make that directory writable";
  return `The session's state could not be saved in ${dir}: ${why}. It is lost if the session's bash ends. ${help}; the next command saves it again.`;
}

/** The next bash gets an older state than it should. */
export function staleNotes(
  missing: { readonly commands: number; readonly why: string } | undefined,
): string[] {
  if (missing === undefined || missing.commands === 0) return [];
  const { commands, why } = missing;
  const which = commands === 1 ? "the command" : `the ${commands} commands`;
  return [`Not in that state is what ${which} before this one changed: it could not be saved (${why}).`];
}

/** What the new bash has not taken over. */
export function unrestoredNotes(names: readonly string[] | "unknown" | NacreError): string[] {
  if (names instanceof NacreError)
    return [`The new bash could not be started yet: ${names.message} The next command tries again.`];
  if (names === "unknown")
    return ["The new bash is not ready yet; what it cannot take over is named with the next command."];
  if (names.length === 0) return [];
  return [`Not restored in the new bash, set it again if you need it: ${listed(names)}.`];
}

/** What a background shell has not taken over of its session. */
export function uninheritedNotes(names: readonly string[] | "unknown"): string[] {
  if (names === "unknown")
    return [
      "Not known is whether the shell inherits all of its session's functions and exports: it takes long.",
    ];
  if (names.length === 0) return [];
  return [
    `Not inherited from the session, set it again in the command if it needs it: ${listed(names)}. Everything else of its functions, exports and shell options is there.`,
  ];
}

/** A background shell gets an older state of its session than it should. */
export function staleStartNotes(
  missing: { readonly commands: number; readonly why: string } | undefined,
): string[] {
  if (missing === undefined || missing.commands === 0) return [];
  const which = missing.commands === 1 ? "the last command" : `the last ${missing.commands} commands`;
  return [
    `Not inherited from the session is what ${which} changed: its state could not be saved (${missing.why}). Set it again in the command if it needs it.`,
  ];
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, NOTE_NAMES_MAX_COUNT).join(", ");
  return names.length > NOTE_NAMES_MAX_COUNT
    ? `${shown}, and ${names.length - NOTE_NAMES_MAX_COUNT} more`
    : shown;
}

/** The bash has ended between two commands. */
export function foundDeadNote(outcome: Outcome | undefined): string {
  const how = outcome ? ` (${describeOutcome(outcome)})` : "";
  return `The session's bash had ended${how}. A new one goes on with ${KEPT} as they were saved last; its jobs are not known to the new one.`;
}

export function unbornNote(profile: string | undefined): string {
  if (profile !== undefined)
    return `The session's profile (${shownPath(profile)}) ended its bash, or took too long; the session goes on without it.`;
  return "The session's saved state could not be restored; this command ran in a new bash without it.";
}

export function goneDirectoryNote(gone: string, instead: string): string {
  return gone === instead
    ? `The working directory ${shownPath(gone)} had been removed and made again; this command ran in the new one.`
    : `The working directory ${shownPath(gone)} is gone; this command ran in ${shownPath(instead)}.`;
}

export function removedSpoolNote(dir: string): string {
  return `The directory ${dir}, which keeps the session's output and saved state, had been removed. It was made again; files that earlier results named are gone.`;
}

export function removedFilesNote(dir: string): string {
  return `Files in ${dir}, which keep the session's output, had been removed or replaced. They were put back with everything that was printed to them.`;
}

export function lostFilesNote(dir: string, why: string): string {
  return `Files in ${dir}, which keep the output of earlier commands of the session, had been removed and cannot be put back: ${why}. The output of this command goes to others.`;
}

export function lostSpoolNote(dir: string, why: string): string {
  return `The directory ${dir}, which keeps the session's output and saved state, was removed and cannot be made again: ${why}. The exit code is right; the output of this command is lost.`;
}

export function outsideNote(outside: string, back: string): string {
  return `${shownPath(outside)} is outside the allowed directories; the next command runs in ${shownPath(back)}.`;
}

export function wentOnNote(id: string): string {
  return `The command goes on as background shell ${id}; the session has a new bash with the state from before the command.`;
}

/** No logger could be started in place of one that is gone. */
export function discardedNote(why: string): string {
  return `Output lost: the process that stores it ended, and no other one could be started: ${why} The exit code is right; the next command tries again.`;
}

export function mixedNote(): string {
  return "Output that earlier commands' processes print may be mixed in: no other logger could be started.";
}

export function survivorNote({ pid, command, reason }: Survivor): string {
  return `Process ${pid} (${command}) could not be ended: ${reason}.`;
}
