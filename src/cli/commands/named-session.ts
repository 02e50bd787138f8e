// Named sessions of `nacre run --session`. Their state is saved on disk for the next nacre process. A lock allows one
// command at a time.
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
import { remark } from "../print.ts";
import type { RunPlan } from "./run-plan.ts";

type NamedSession = Pick<RunPlan, "workingDir" | "isDefaultCwd" | "envMode" | "namesEnvMode"> & {
  readonly name: string;
};
/** A session keeps the environment mode of its first command. */
type SavedNamedSession = SavedSession & { readonly envMode?: EnvMode };

/** Locks the session, calls `use` with it, and saves its state for the next process. */
export async function inNamedSession<T>(
  io: CliIo,
  manager: ShellManager,
  options: NamedSession,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const file = new SessionFile(manager.root, options.name);
  await lockSession(io, file, options.name);
  try {
    const saved = savedIn(file);
    const session = open(manager, saved, options);
    const result = await use(session);
    const state = await session.save();
    if (state) save(io, file, { ...state, envMode: saved?.envMode ?? options.envMode }, options.name);
    return result;
  } finally {
    file.release();
  }
}

/** Opens the session with its last saved state. Neither locks the session nor saves it afterwards. */
export function namedSessionAsLeft(manager: ShellManager, options: NamedSession): Session {
  return open(manager, savedIn(new SessionFile(manager.root, options.name)), options);
}

/** Opens the session. It continues in its last directory, unless --cwd names another one. */
function open(manager: ShellManager, saved: SavedNamedSession | undefined, options: NamedSession): Session {
  const { workingDir, isDefaultCwd, name, envMode, namesEnvMode } = options;
  if (namesEnvMode && saved?.envMode !== undefined && saved.envMode !== envMode) {
    throw new NacreError(
      "invalid_input",
      `Session ${name} was started with --env-mode ${saved.envMode} and keeps its variables. Omit --env-mode, or use another session name.`,
    );
  }
  const named = isDefaultCwd ? { named: workingDir } : {};
  return manager.session(name, { workingDir, ...(saved ? { saved, ...named } : {}) });
}

/** Waits until no other process uses the session. */
async function lockSession(io: CliIo, file: SessionFile, name: string): Promise<void> {
  const self = { pid: process.pid, startTime: readStat(process.pid)?.startTime ?? "" };
  for (let waited = false; ; waited = true) {
    const other = file.take(self, ({ pid, startTime }) => isSameProcess(pid, startTime));
    if (!other) return;
    if (!waited) remark(io, `waiting for another command in session ${name} (pid ${other.pid})`);
    await sleep(SESSION_TURN_POLL_MS);
  }
}

function savedIn(file: SessionFile): SavedNamedSession | undefined {
  const saved = file.read() as Partial<SavedNamedSession> | undefined;
  const { cwd, nonce, state, prefix, envMode, meaning } = saved ?? {};
  if (typeof cwd !== "string" || typeof nonce !== "string" || typeof state !== "string") return undefined;
  return {
    ...{ cwd, nonce, state, prefix: prefix ?? "" },
    ...(envMode === undefined ? {} : { envMode }),
    ...(meaning === undefined ? {} : { meaning }),
  };
}

/** Reports a failure instead of throwing, because the command has already run and its exit code must not change. */
function save(io: CliIo, file: SessionFile, state: SavedNamedSession, name: string): void {
  try {
    file.write(state);
  } catch (error) {
    remark(
      io,
      `${messageOf(error)} The next command of session ${name} starts from the state before this command.`,
    );
  }
}
