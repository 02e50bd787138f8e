// Ends a server: kills its shells after a short grace period, waits for its calls, disposes of the toolkit. The grace
// period is short because a client that closes the connection kills the server after a second or two.

import { MCP_END_GRACE_MS, MCP_END_MAX_MS } from "../support/limits.ts";
import { within } from "../support/timing.ts";
import type { ServerDeps } from "./server-deps.ts";

export async function shutDown({ kit, inFlight }: Pick<ServerDeps, "kit" | "inFlight">): Promise<void> {
  const running = kit.manager.listRunning().filter((shell) => !shell.durable);
  const ending = { by: "the end of its host", graceMs: MCP_END_GRACE_MS };
  await Promise.all([
    ...running.map((shell) => shell.kill(ending)),
    ...kit.manager.listSessions().map((session) => session.close(ending)),
  ]);
  // Wait for the calls first: a call must not start a shell after the manager was disposed of.
  await within(MCP_END_MAX_MS, Promise.allSettled(inFlight));
  await kit.dispose();
}
