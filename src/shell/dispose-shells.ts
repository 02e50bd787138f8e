// The end of a manager: ends its shells with everything they started, and leaves durable shells to other hosts.
import type { Engine } from "../engine/engine.ts";
import { giveUp } from "../engine/lease.ts";
import { thisProcess } from "../engine/process-table.ts";
import type { Confiner } from "./confiner.ts";
import type { KnownShells } from "./known-shells.ts";

export interface DisposedParts {
  readonly shells: KnownShells;
  readonly engine: Engine;
  readonly confiner: Confiner;
  readonly killGraceMs: number;
  readonly sessions: { closeAll(by: string): Promise<unknown> };
}

export async function disposeShells({
  shells,
  engine,
  confiner,
  killGraceMs,
  sessions,
}: DisposedParts): Promise<void> {
  const { running, deadlines } = shells;
  const ending = running.list().filter((shell) => shells.isOwn(shell) && !shell.durable);
  const waiting = ending.map((shell) => shell.waitUntil({ exit: true }, killGraceMs));
  deadlines.clearAll();
  running.stop();
  // Include ended shells, because they may have leftovers.
  const own = shells.ownOf().filter((shell) => !(shell.durable && shell.isRunning));
  const by = "the end of its host";
  await Promise.all([shells.endAll(own, by), sessions.closeAll(by)]);
  await engine.dispose();
  confiner.tidy();
  // This process may continue to run without the manager, so let other hosts take over its durable shells.
  for (const { started, durable, isRunning, terminal } of shells.ownOf()) {
    terminal?.close();
    if (durable && isRunning) giveUp(started.files, started.meta, thisProcess());
  }
  await Promise.all(waiting);
}
