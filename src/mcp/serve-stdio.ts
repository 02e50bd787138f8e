// Serves one connection over a pair of streams, until the client closes it or the signal aborts. Then ends every
// non-durable shell that the connection started.
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { serveStdio as serveConnection } from "@modelcontextprotocol/server/stdio";
import { ApprovalDesk } from "../approvals/approval-desk.ts";
import { assembleToolkit } from "../toolkit.ts";
import { LineTransport } from "./line-transport.ts";
import { createLog } from "./log.ts";
import { type McpOptions, toolkitOptions } from "./mcp-options.ts";
import { createServer } from "./mcp-server.ts";
import { prepareSoon } from "./prepare-soon.ts";
import { createServerDeps } from "./server-deps.ts";
import { announce } from "./shell-resources.ts";
import { shutDown } from "./shut-down.ts";
import type { ToolServer } from "./tool-server.ts";
import { untilEnd } from "./until-end.ts";

export interface McpIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: { write(text: string): unknown };
  /** Ends the connection. */
  readonly signal?: AbortSignal;
}

export async function serveStdio(options: McpOptions, io: McpIo): Promise<void> {
  const log = createLog(io.stderr, options.logLevel);
  const kit = assembleToolkit(toolkitOptions(options));
  const deps = createServerDeps({
    kit,
    log,
    scope: options.scope ?? `mcp-${randomUUID()}`,
    shared: options.scope !== undefined,
    inFlight: new Set(),
    whenSent: (id) => transport.whenSent(id),
  });
  let server: ToolServer | undefined;
  let stopAnnouncing: (() => void) | undefined;
  // The SDK manages the subscriptions of the newer era. While one is open, report changes to the SDK.
  const onListening = (count: number) => {
    stopAnnouncing?.();
    stopAnnouncing = count > 0 && server ? announce(server, deps) : undefined;
  };
  const transport = new LineTransport(io.stdin, io.stdout, {
    onListening,
    drainAfter: () => kit.ready().catch(() => {}),
  });
  const stopPreparing = prepareSoon(kit, io.stderr);
  try {
    const handle = serveConnection(
      ({ era }) => {
        log(`a client of the ${era} era`);
        server = createServer(options, deps);
        return server;
      },
      { transport, onerror: (error) => log(`error: ${error.message}`) },
    );
    await untilEnd(transport.closed, io.signal);
    await handle.close();
  } finally {
    stopPreparing();
    stopAnnouncing?.();
    // No later connection has this scope, so no call could use the answers.
    if (options.scope === undefined)
      ApprovalDesk.of(kit.manager.root).withdraw(deps.scope, "the end of its connection");
    await shutDown(deps);
    if (!(await transport.flush())) log("the client stopped reading: the rest of the output is dropped");
    log("stopped");
  }
}
