// A session that goes from one nacre to the next: where the last command left it, whose turn it is, what it leaves.

import { isSameProcess, readStat } from "../../engine/process-table.ts";
import { SessionFile } from "../../engine/session-file.ts";
import type { Session } from "../../session/session.ts";
import type { SavedSession } from "../../session/session-options.ts";
import type { ShellManager } from "../../shell-manager.ts";
import { messageOf, NacreError } from "../../support/errors.ts";
import { SESSION_TURN_POLL_MS } from "../../support/limits.ts";
import { sleep } from "../../support/timing.ts";
import type { CliIo } from "../cli-io.ts";
import type { EnvMode } from "../option.ts";
import type { RunPlan } from "./run-plan.ts";

type Place = Pick<RunPlan, "workingDir" | "isHere" | "envMode" | "namesEnvMode"> & { readonly name: string };
/** It keeps the environment that it began with. */
type Kept = SavedSession & { readonly envMode?: EnvMode };

/** When its turn has come; what the session is afterwards is kept for the next. */
export async function inNamedSession<T>(
  io: CliIo,
  manager: ShellManager,
  place: Place,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const file = new SessionFile(manager.root, place.name);
  await takeTurn(io, file, place.name);
  try {
    const saved = savedIn(file);
    const session = open(manager, saved, place);
    const result = await use(session);
    const kept = await session.save();
    if (kept) keep(io, file, { ...kept, envMode: saved?.envMode ?? place.envMode }, place.name);
    return result;
  } finally {
    file.release();
  }
}

/** As the last command left it, also while one runs; nothing is kept. */
export function namedSessionAsLeft(manager: ShellManager, place: Place): Session {
  return open(manager, savedIn(new SessionFile(manager.root, place.name)), place);
}

/** It stays where it was left, unless the call names a directory. */
function open(manager: ShellManager, saved: Kept | undefined, place: Place): Session {
  const { workingDir, isHere, name, envMode, namesEnvMode } = place;
  if (namesEnvMode && saved?.envMode !== undefined && saved.envMode !== envMode) {
    throw new NacreError(
      "invalid_input",
      `Session ${name} began with --env-mode ${saved.envMode} and keeps its variables. Leave --env-mode out, or begin a session of another name.`,
    );
  }
  const named = isHere ? { named: workingDir } : {};
  return manager.session(name, { workingDir, ...(saved ? { saved, ...named } : {}) });
}

/** Two at once run one after the other. */
async function takeTurn(io: CliIo, file: SessionFile, name: string): Promise<void> {
  const self = { pid: process.pid, startTime: readStat(process.pid)?.startTime ?? "" };
  for (let waited = false; ; waited = true) {
    const other = file.take(self, ({ pid, startTime }) => isSameProcess(pid, startTime));
    if (!other) return;
    if (!waited)
      io.stderr.write(`nacre: waiting for another command in session ${name} (pid ${other.pid})\n`);
    await sleep(SESSION_TURN_POLL_MS);
  }
}

function savedIn(file: SessionFile): Kept | undefined {
  const saved = file.read() as Partial<Kept> | undefined;
  const { cwd, nonce, state, prefix, envMode, meaning } = saved ?? {};
  if (typeof cwd !== "string" || typeof nonce !== "string" || typeof state !== "string") return undefined;
  return {
    ...{ cwd, nonce, state, prefix: prefix ?? "" },
    ...(envMode === undefined ? {} : { envMode }),
    ...(meaning === undefined ? {} : { meaning }),
  };
}

/** The command has run: what cannot be kept does not change how it ended. */
function keep(io: CliIo, file: SessionFile, kept: Kept, name: string): void {
  try {
    file.write(kept);
  } catch (error) {
    io.stderr.write(
      `nacre: ${messageOf(error)} The next command of session ${name} finds it as it was before this one.\n`,
    );
  }
}
