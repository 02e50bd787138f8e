// The end of a connection: its shells get a short grace, its calls come back, then everything is let go.
// Short, because a client that closes the door waits a second or two before it kills the server.

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
  // A call on its way to a shell must not arrive after the manager has been let go.
  await within(MCP_END_MAX_MS, Promise.allSettled(inFlight));
  await kit.dispose();
}
