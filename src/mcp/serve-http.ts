// Serves HTTP clients of both protocol eras at one address, until the signal aborts. Clients with the same token share
// their shells; clients with different tokens do not see each other's shells.
import { randomUUID } from "node:crypto";
import { assembleToolkit } from "../toolkit.ts";
import type { HttpAddress } from "./http-address.ts";
import { type HttpEndpoint, openHttpEndpoint } from "./http-endpoint.ts";
import { tokenDigest } from "./http-guard.ts";
import { type HttpListener, listenHttp } from "./http-listener.ts";
import { createLog } from "./log.ts";
import { type McpOptions, toolkitOptions } from "./mcp-options.ts";
import { createServer } from "./mcp-server.ts";
import { prepareSoon } from "./prepare-soon.ts";
import { createServerDeps, type ServerDeps } from "./server-deps.ts";
import { shutDown } from "./shut-down.ts";
import { untilEnd } from "./until-end.ts";
import { WatchBus } from "./watch-bus.ts";

export interface HttpOptions extends McpOptions {
  readonly address: HttpAddress;
  /** The accepted tokens. If there are none, the server accepts every request from this machine. */
  readonly tokens: readonly string[];
}

export interface HttpIo {
  readonly stderr: { write(text: string): unknown };
  /** Ends the server. */
  readonly signal: AbortSignal;
  /** Receives the address of the server. */
  readonly onListening: (url: string) => void;
}

export async function serveHttp(options: HttpOptions, io: HttpIo): Promise<void> {
  const { address, tokens } = options;
  const log = createLog(io.stderr, options.logLevel);
  const kit = assembleToolkit(toolkitOptions(options));
  const inFlight = new Set<Promise<unknown>>();
  const openEndpoint = (token: string) => {
    const scope = options.scope ?? `mcp-${token === "" ? randomUUID() : tokenDigest(token)}`;
    const shared = options.scope !== undefined;
    return openScope(options, createServerDeps({ kit, log, scope, shared, inFlight }));
  };
  const stopPreparing = prepareSoon(kit, io.stderr);
  let listener: HttpListener | undefined;
  try {
    listener = await listenHttp({ address, tokens, openEndpoint, log });
    io.onListening(listener.url);
    await untilEnd(new Promise(() => {}), io.signal);
  } finally {
    stopPreparing();
    await listener?.stop();
    await shutDown({ kit, inFlight });
    listener?.close();
    log("stopped");
  }
}

function openScope(options: McpOptions, deps: ServerDeps): HttpEndpoint {
  const { kit, scope, watch, log } = deps;
  const ownSession = (session: string | undefined) =>
    session === undefined || options.session !== undefined ? deps : { ...deps, session };
  return openHttpEndpoint({
    // Each connection has its own session, unless the options name one for all.
    createServer: (connection) => createServer(options, ownSession(connection)),
    onEnd: async (connection) => {
      const [session] = kit.manager.listSessions({ scope }).filter(({ id }) => id === connection);
      await session?.close({ by: "the end of its connection" });
    },
    bus: new WatchBus(watch),
    log,
  });
}
