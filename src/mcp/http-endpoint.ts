// One set of clients over HTTP, of both eras: requests of the newer one are served each by itself, those of the older
// one belong to a connection (http-sessions.ts). Knows nothing of tools.
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import { MCP_MESSAGE_MAX_BYTES } from "../support/limits.ts";
import { HttpSessions } from "./http-sessions.ts";
import type { Log } from "./log.ts";
import { nodeHandler } from "./node-handler.ts";

export interface HttpEndpoint {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

export interface HttpEndpointOptions {
  /** For a connection of the older era, with its id, or for one request of the newer. */
  readonly createServer: (connection?: string) => McpServer;
  /** A connection is over. */
  readonly onEnd?: (connection: string) => Promise<void>;
  /** Where changes are told that subscribers of the newer era want to hear of. */
  readonly bus?: ServerEventBus;
  readonly log: Log;
}

export function openHttpEndpoint({ createServer, onEnd, bus, log }: HttpEndpointOptions): HttpEndpoint {
  const limits = { maxRequestBodySize: MCP_MESSAGE_MAX_BYTES };
  const sessions = new HttpSessions({ createServer, onEnd: onEnd ?? (async () => {}) });
  const modern = createMcpHandler(() => createServer(), {
    ...limits,
    ...(bus ? { bus } : {}),
    legacy: "reject",
    onerror: (error) => log(`error: ${error.message}`),
  });
  const fetch = async (request: Request) =>
    (await isLegacyRequest(request, undefined, limits))
      ? await sessions.handle(request)
      : await modern.fetch(request);
  return {
    handle: nodeHandler(fetch, log),
    close: async () => void (await Promise.all([sessions.closeAll(), modern.close()])),
  };
}
