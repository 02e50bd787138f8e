// A session that goes from one nacre to the next: where the last command left it, whose turn it is, what it leaves.
import { isSameProcess, readStat } from "../../hosts/process-table.ts";
import type { Session } from "../../shell/session.ts";
import type { SavedSession } from "../../shell/session-options.ts";
import type { ShellManager } from "../../shell/shell-manager.ts";
import { SessionFile } from "../../spool/session-file.ts";
import { SESSION_TURN_POLL_MS } from "../../support/limits.ts";
import type { CliIo } from "../cli-io.ts";
import type { RunPlan } from "./run-plan.ts";

type Place = Pick<RunPlan, "workingDir" | "isHere">;

/** When its turn has come; what the session is afterwards is kept for the next. */
export async function inNamedSession<T>(
  io: CliIo,
  manager: ShellManager,
  place: Place & { readonly name: string },
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const file = new SessionFile(manager.root, place.name);
  await takeTurn(io, file, place.name);
  try {
    const session = open(manager, file, place);
    const result = await use(session);
    const kept = await session.save();
    if (kept) file.write(kept);
    return result;
  } finally {
    file.release();
  }
}

/** As the last command left it, also while one runs; nothing is kept. */
export function namedSessionAsLeft(manager: ShellManager, place: Place & { readonly name: string }): Session {
  return open(manager, new SessionFile(manager.root, place.name), place);
}

/** It stays where it was left, unless somebody names a directory. */
function open(
  manager: ShellManager,
  file: SessionFile,
  { workingDir, isHere, name }: Place & { readonly name: string },
): Session {
  const saved = savedIn(file);
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
    await new Promise((resolve) => setTimeout(resolve, SESSION_TURN_POLL_MS));
  }
}

function savedIn(file: SessionFile): SavedSession | undefined {
  const saved = file.read() as Partial<SavedSession> | undefined;
  const { cwd, nonce, state, prefix } = saved ?? {};
  if (typeof cwd !== "string" || typeof nonce !== "string" || typeof state !== "string") return undefined;
  return { cwd, nonce, state, prefix: prefix ?? "" };
}
