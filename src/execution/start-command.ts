// Starts admitted commands, and is the only module outside shell/ that starts any: in a session, from a session in the
// background, or in a bash of their own. Each takes its command out of an Admitted.

import type { Session } from "../session/session.ts";
import type { RunOptions, SessionResult, StartOptions } from "../session/session-options.ts";
import type { CreateShellOptions } from "../shell/manager-options.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { NacreError } from "../support/errors.ts";
import { FOREGROUND_PER_SCOPE_MAX_COUNT } from "../support/limits.ts";
import { type Admitted, isCurrent, readmit } from "./admission.ts";
import { scopeOf } from "./scope.ts";
import { Turns } from "./turns.ts";

/** What an admission has decided already. */
type Decided = "command" | "workingDir" | "env" | "scope" | "session";

// Per process, not per tool: two tools of one scope share the machine.
const turns = new Turns(FOREGROUND_PER_SCOPE_MAX_COUNT);

/** Runs the command in its session when those before it have ended, if it may still run there then. */
export async function runAdmitted(
  admitted: Admitted,
  options: Omit<RunOptions, "onTurn" | "workingDir" | "env" | "signal"> = {},
): Promise<SessionResult> {
  const session = sessionFor(admitted);
  const { context } = admitted;
  const command = admitted.use();
  return await session.run(command, {
    ...options,
    ...placeIn(admitted),
    ...(context.signal ? { signal: context.signal } : {}),
    // The commands before it may have moved the session, and what was harmless there may not be so here.
    onTurn: async () => {
      const current = await whenCurrent(admitted);
      const leave = await takePlace(admitted);
      try {
        await whenCurrent(current);
        return leave;
      } catch (error) {
        leave();
        throw error;
      }
    },
  });
}

/** Starts the command in a shell that runs on, with the directory, exports and functions of its session. */
export async function startInSession(
  admitted: Admitted,
  options: Omit<StartOptions, "workingDir" | "env"> = {},
): Promise<ShellProcess> {
  const session = sessionFor(admitted);
  const command = admitted.use();
  // No await between the last check and the start: a command that ends in between could move the session.
  for (let current = admitted; !isCurrent(current); ) current = await readmit(current);
  return await session.start(command, { ...options, ...placeIn(admitted) });
}

/** Starts the command in a bash of its own. */
export async function startAlone(
  admitted: Admitted,
  options: Omit<CreateShellOptions, Decided> = {},
): Promise<ShellProcess> {
  const { cwd: workingDir, context } = admitted;
  if (admitted.session !== null) throw wrongStart(admitted);
  return await admitted.options.manager().createShell({
    ...options,
    command: admitted.use(),
    workingDir,
    scope: scopeOf(context),
    ...(context.env ? { env: context.env } : {}),
  });
}

/** One of the places that a scope has for commands that run at the same time. Returns how to leave it. */
export async function takePlace({ context }: Admitted): Promise<() => void> {
  const waiting = (before: number) =>
    context.onProgress?.({
      message: `Waiting for a free place: ${FOREGROUND_PER_SCOPE_MAX_COUNT} commands are running, ${before} are before this one.`,
    });
  return await turns.take(scopeOf(context), waiting, context.signal);
}

/** The admission as it is now: the same one while nothing has changed, else one that was decided again. */
async function whenCurrent(admitted: Admitted): Promise<Admitted> {
  let current = admitted;
  while (!isCurrent(current)) current = await readmit(current);
  return current;
}

function sessionFor(admitted: Admitted): Session {
  const { target } = admitted;
  if (!target) throw wrongStart(admitted);
  return target.open();
}

function placeIn({ target, context }: Admitted): Pick<RunOptions, "workingDir" | "env"> {
  return {
    ...(target?.named === undefined ? {} : { workingDir: target.named }),
    ...(context.env ? { env: context.env } : {}),
  };
}

function wrongStart({ session }: Admitted): NacreError {
  const where = session === null ? "a bash of its own" : `the session ${session}`;
  return new NacreError("internal", `The command was admitted for ${where} and is started elsewhere.`);
}
