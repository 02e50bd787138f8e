// Serves the HTTP clients of one token, in both protocol eras (mcp-server.ts). The server handles each request of the
// newer era on its own; a request of the older era belongs to a connection (http-sessions.ts). This file does not use
// the tools.
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  type Server,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import { defined } from "../support/defined.ts";
import { MCP_MESSAGE_MAX_BYTES } from "../support/limits.ts";
import { HttpSessions } from "./http-sessions.ts";
import type { Log } from "./log.ts";
import { nodeHandler } from "./node-handler.ts";

export interface HttpEndpoint {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

export interface HttpEndpointOptions {
  /** Creates a server for a connection of the older era (with its id) or for one request of the newer era. */
  readonly createServer: (connection?: string) => McpServer | Server;
  /** Called when a connection ends. */
  readonly onEnd?: (connection: string) => Promise<void>;
  /** Publishes changes to subscribers of the newer era. */
  readonly bus?: ServerEventBus;
  readonly log: Log;
}

export function openHttpEndpoint({ createServer, onEnd, bus, log }: HttpEndpointOptions): HttpEndpoint {
  const limits = { maxRequestBodySize: MCP_MESSAGE_MAX_BYTES };
  const sessions = new HttpSessions({ createServer, onEnd: onEnd ?? (async () => {}) });
  const modern = createMcpHandler(() => createServer(), {
    ...limits,
    ...defined({ bus }),
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
