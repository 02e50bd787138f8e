// Finds a bash that takes the command: one may be found dead, or die before it has read it.
import { NacreError } from "../support/errors.ts";
import * as say from "./session-notes.ts";
import type { RunOptions, SessionResult } from "./session-options.ts";
import { Run, type SessionPlace } from "./session-run.ts";

export async function runInSession(
  place: SessionPlace,
  command: string,
  options: RunOptions,
): Promise<SessionResult> {
  const notes: string[] = [];
  let restarted = false;
  for (let tries = 0; tries < 3; tries++) {
    const { bash, died } = await place.succession.current(notes);
    if (died) notes.push(say.foundDeadNote(died.shell.outcome), ...say.staleNotes(place.succession.missing));
    restarted ||= died !== undefined;
    const result = await new Run(place, command, options, bash, { notes, restarted }).result();
    if (result) return result;
    restarted = true;
    if (bash.isBorn) {
      notes.push(say.foundDeadNote(bash.shell.outcome));
      continue;
    }
    place.succession.forgetState();
    notes.push(say.unbornNote(bash.profile));
  }
  throw new NacreError(
    "spawn_failed",
    "The session's bash dies before it takes a command. Is something killing bash?",
  );
}
