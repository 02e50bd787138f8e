// Finds the session of a call, and starts admitted commands: in a session, in the background from a session, or in a
// separate bash. Every start gets its command from an Admitted. No other module above shell/ starts commands.

import type { Session } from "../session/session.ts";
import type { RunOptions, SessionResult, StartOptions } from "../session/session-options.ts";
import type { CreateShellOptions } from "../shell/manager-options.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { NacreError } from "../support/errors.ts";
import { FOREGROUND_PER_SCOPE_MAX_COUNT } from "../support/limits.ts";
import { KeyedSemaphore, type SemaphoreLease } from "../support/semaphore.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { type Admitted, isCurrent, readmit, type SessionSnapshot, type SessionTarget } from "./admission.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { scopeOf } from "./scope.ts";

/** The options whose values come from the admission. */
type Decided = "command" | "workingDir" | "env" | "scope" | "session";

// One set of semaphores for the whole process, not for each tool, because two tools of one scope share the machine.
const foreground = new KeyedSemaphore(FOREGROUND_PER_SCOPE_MAX_COUNT);

/**
 * Runs the command in its session. First waits for the earlier commands of the session, then until fewer foreground
 * commands of the scope are running. Commands that ran in the meantime may have changed the session in a way that
 * makes this command harmful. So after each wait, the policy judges the command again if anything has changed.
 */
export async function runAdmitted(
  admitted: Admitted,
  options: Omit<RunOptions, "workingDir" | "env" | "signal"> = {},
): Promise<SessionResult> {
  const { signal } = admitted.context;
  const run = { ...options, ...callOptions(admitted), ...(signal ? { signal } : {}) };
  const command = admitted.use();
  const session = sessionFor(admitted);
  checkPlace(admitted, undefined);
  using turn = await session.takeTurn(command, run);
  const current = await whenCurrent(admitted, turn);
  using place = await takePlace(admitted);
  if (place.hasWaited) await whenCurrent(current);
  return await session.run(command, run, turn);
}

/** Starts the command in a separate shell, with the directory, exports and functions of its session. */
export async function startInSession(
  admitted: Admitted,
  options: Omit<StartOptions, "workingDir" | "env"> = {},
): Promise<ShellProcess> {
  checkTerminal(admitted, options.terminal);
  const session = sessionFor(admitted);
  checkPlace(admitted, options.previewDir);
  const command = admitted.use();
  // Do not await between the last check and the start: a command that ends between them could change the session.
  for (let current = admitted; !isCurrent(current); ) current = await readmit(current);
  return await session.start(command, { ...options, ...callOptions(admitted) });
}

/** Starts the command in a separate bash, outside a session. */
export async function startAlone(
  admitted: Admitted,
  options: Omit<CreateShellOptions, Decided> = {},
): Promise<ShellProcess> {
  const { cwd: workingDir, context } = admitted;
  checkTerminal(admitted, options.terminal);
  if (admitted.session !== null) throw wrongStart(admitted);
  checkPlace(admitted, options.previewDir);
  return await admitted.options.manager().createShell({
    ...options,
    command: admitted.use(),
    workingDir,
    scope: scopeOf(context),
    ...agentOf(context),
    ...(context.env ? { env: context.env } : {}),
  });
}

/** The session in which a call runs. `named` is the directory that the call names. */
export function sessionTarget(
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
  named: string | undefined = context.workingDir,
): SessionTarget {
  const id = context.sessionId ?? "default";
  const scope = scopeOf(context);
  return {
    id,
    named,
    find: () => options.manager().sessions.find(id, { scope }),
    open: () =>
      options.manager().sessions.get(id, {
        workingDir: context.workingDir,
        scope,
        ...(options.profile === "none" ? {} : { profile: options.profile }),
      }),
  };
}

/** Waits until fewer foreground commands of the scope are running. */
export async function takePlace({ context }: Admitted): Promise<SemaphoreLease> {
  return await foreground.take(scopeOf(context), {
    signal: context.signal,
    onWait: (before) =>
      context.onProgress?.({
        message: `Waiting: ${FOREGROUND_PER_SCOPE_MAX_COUNT} commands are already running, and ${before} others are waiting before this one.`,
      }),
  });
}

/** Returns this admission if nothing has changed, otherwise a new one. */
async function whenCurrent(admitted: Admitted, now?: SessionSnapshot): Promise<Admitted> {
  if (isCurrent(admitted, now)) return admitted;
  let current = await readmit(admitted);
  while (!isCurrent(current)) current = await readmit(current);
  return current;
}

function sessionFor(admitted: Admitted): Session {
  const { target } = admitted;
  if (!target) throw wrongStart(admitted);
  return target.open();
}

function callOptions({ target, context }: Admitted): Pick<RunOptions, "workingDir" | "env" | "agent"> {
  return {
    ...agentOf(context),
    ...(target?.named === undefined ? {} : { workingDir: target.named }),
    ...(context.env ? { env: context.env } : {}),
  };
}

function agentOf({ agentId }: ExecutionContext): Pick<RunOptions, "agent"> {
  return agentId === undefined ? {} : { agent: agentId };
}

/** A terminal needs its own approval: an approval of the same command without a terminal does not count. */
function checkTerminal({ terminal }: Admitted, wanted = false): void {
  if (wanted === terminal) return;
  throw new NacreError("internal", "The command was not admitted for a start with a terminal.");
}

/** A command that was admitted for a preview must not run outside of one. */
function checkPlace({ isPreview }: Admitted, previewDir: string | undefined): void {
  if (isPreview === (previewDir !== undefined)) return;
  throw new NacreError("internal", "The command was admitted for a preview and is started outside of one.");
}

function wrongStart({ session }: Admitted): NacreError {
  const where = session === null ? "a separate bash" : `the session ${session}`;
  return new NacreError("internal", `The command was admitted for ${where} and is started elsewhere.`);
}
