// The server over HTTP, on this machine: many clients of both eras at one address, until the host says so. Clients
// with the same token share their shells; those of different tokens do not see each other's.
import { randomUUID } from "node:crypto";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, isLegacyRequest } from "@modelcontextprotocol/server";
import { messageOf, NacreError } from "../support/errors.ts";
import { MCP_MESSAGE_MAX_BYTES } from "../support/limits.ts";
import { systemCode } from "../support/system-error.ts";
import { assembleToolkit } from "../toolkit.ts";
import { endEverything } from "./end-everything.ts";
import type { HttpAddress } from "./http-address.ts";
import { HttpGuard, MCP_PATH, nameOf, type Refusal } from "./http-guard.ts";
import { HttpSessions } from "./http-sessions.ts";
import { createLog } from "./log.ts";
import { type McpOptions, toolkitOptions } from "./mcp-options.ts";
import { createServer } from "./mcp-server.ts";
import { prepareSoon } from "./prepare-soon.ts";
import { createSurroundings, type Surroundings } from "./surroundings.ts";
import { untilEnd } from "./until-end.ts";
import { WatchBus } from "./watch-bus.ts";

export interface HttpOptions extends McpOptions {
  readonly address: HttpAddress;
  /** Who is let in. Empty: everybody on this machine. */
  readonly tokens: readonly string[];
}

export interface HttpIo {
  readonly stderr: { write(text: string): unknown };
  /** Ends the server. */
  readonly signal: AbortSignal;
  /** Told where it listens. */
  readonly onListening: (url: string) => void;
}

export async function serveHttp(options: HttpOptions, io: HttpIo): Promise<void> {
  const log = createLog(io.stderr, options.logLevel);
  const kit = assembleToolkit(toolkitOptions(options));
  const inFlight = new Set<Promise<unknown>>();
  const doors = new Map<string, Door>();
  const doorFor = (token: string) => {
    const scope = options.scope ?? (token === "" ? `mcp-${randomUUID()}` : `mcp-${nameOf(token)}`);
    const door =
      doors.get(token) ??
      openDoor(
        options,
        createSurroundings({ kit, log, scope, shared: options.scope !== undefined, inFlight }),
      );
    doors.set(token, door);
    return door;
  };
  const guard = new HttpGuard(options.tokens);
  const http = createHttpServer((request, response) => {
    const admission = guard.admit(request);
    if ("token" in admission) void doorFor(admission.token).handle(request, response);
    else {
      log(`refused: ${admission.message}`);
      refuse(response, admission);
    }
  });
  const stopPreparing = prepareSoon(kit, io.stderr);
  try {
    io.onListening(await listen(http, options.address));
    await untilEnd(new Promise(() => {}), io.signal);
  } finally {
    stopPreparing();
    http.close();
    await Promise.all([...doors.values()].map((door) => door.close()));
    await endEverything({ kit, inFlight });
    http.closeAllConnections();
    log("everything has ended");
  }
}

/** All clients of one token. */
interface Door {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

function openDoor(options: McpOptions, surroundings: Surroundings): Door {
  const limits = { maxRequestBodySize: MCP_MESSAGE_MAX_BYTES };
  const onerror = (error: Error) => surroundings.log(`error: ${error.message}`);
  const { kit, scope } = surroundings;
  const sessions = new HttpSessions({
    // A bash of its own for each, unless all are to share one.
    createServer: (session) =>
      createServer(options, options.session === undefined ? { ...surroundings, session } : surroundings),
    onEnd: async (id) => {
      const [session] = kit.manager.listSessions({ scope }).filter((one) => one.id === id);
      await session?.close({ by: "the end of its connection" });
    },
  });
  const modern = createMcpHandler(() => createServer(options, surroundings), {
    ...limits,
    legacy: "reject",
    bus: new WatchBus(surroundings.watch),
    onerror,
  });
  const fetch = async (request: Request) =>
    (await isLegacyRequest(request, undefined, limits))
      ? await sessions.handle(request)
      : await modern.fetch(request);
  const handle = toNodeHandler({ fetch }, { ...limits, onerror });
  return {
    handle: (request, response) => handle(request as NodeIncomingMessageLike, response),
    close: async () => void (await Promise.all([sessions.closeAll(), modern.close()])),
  };
}

/** In JSON-RPC, because that is what the other side reads. */
function refuse(response: ServerResponse, { status, message }: Refusal): void {
  const challenge = status === 401 ? { "WWW-Authenticate": 'Bearer realm="nacre"' } : {};
  response.writeHead(status, { "Content-Type": "application/json", Connection: "close", ...challenge });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } }));
}

async function listen(http: Server, { host, port }: HttpAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    http.once("error", (error) => reject(explain(error, port)));
    http.listen(port, host, resolve);
  });
  const address = http.address();
  const actual = typeof address === "object" && address !== null ? address.port : port;
  return `http://${host === "::1" ? "[::1]" : host}:${actual}${MCP_PATH}`;
}

function explain(error: Error, port: number): NacreError {
  const code = systemCode(error);
  if (code === "EADDRINUSE") {
    return new NacreError(
      "spawn_failed",
      `Port ${port} is in use. End what listens there, choose another, or 0 for any that is free.`,
    );
  }
  if (code === "EACCES") {
    return new NacreError("spawn_failed", `Port ${port} needs privileges. Choose one from 1024 up.`);
  }
  return new NacreError("spawn_failed", `Port ${port} cannot be listened on: ${messageOf(error)}`);
}
