// HTTP connections that use an older version of the protocol. Each connection begins with initialize, gets an id and
// has its own server, which can ask questions and send notifications, just as over stdio.
import { randomUUID } from "node:crypto";
import {
  type McpServer,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { monotonicMs } from "../support/clock.ts";
import {
  MCP_HTTP_SESSION_IDLE_MS,
  MCP_HTTP_SESSIONS_MAX_COUNT,
  MCP_MESSAGE_MAX_BYTES,
} from "../support/limits.ts";

interface HttpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: McpServer | Server;
  usedMs: number;
}

export interface HttpSessionsOptions {
  readonly createServer: (id: string) => McpServer | Server;
  /** Called when a connection ends. */
  readonly onEnd: (id: string) => Promise<void>;
}

export class HttpSessions {
  readonly #options: HttpSessionsOptions;
  readonly #sessions = new Map<string, HttpSession>();

  constructor(options: HttpSessionsOptions) {
    this.#options = options;
  }

  async handle(request: Request): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    if (id === null) return await this.#open(request);
    const session = this.#sessions.get(id);
    if (!session) return notFound();
    session.usedMs = monotonicMs();
    return await session.transport.handleRequest(request);
  }

  /** Called when the whole HTTP server shuts down, which itself ends the shells of all connections. */
  async closeAll(): Promise<void> {
    const all = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(all.map(({ server }) => server.close()));
  }

  /**
   * Opens a connection. If the request is not initialize, the transport refuses it, and this method closes the server
   * that it has just created.
   */
  async #open(request: Request): Promise<Response> {
    await this.#evict();
    const id = randomUUID();
    const server = this.#options.createServer(id);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      maxRequestBodySize: MCP_MESSAGE_MAX_BYTES,
      onsessioninitialized: () => {
        this.#sessions.set(id, { transport, server, usedMs: monotonicMs() });
      },
      onsessionclosed: () => this.#close(id),
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  /**
   * Closes connections that have been idle for a long time, because clients often disappear without closing theirs.
   * Above the limit, closes those that have been idle longest.
   */
  async #evict(): Promise<void> {
    const byAge = [...this.#sessions].sort(([, a], [, b]) => a.usedMs - b.usedMs);
    const idle = byAge.filter(([, { usedMs }]) => monotonicMs() - usedMs > MCP_HTTP_SESSION_IDLE_MS);
    const surplus = byAge.slice(0, Math.max(0, byAge.length + 1 - MCP_HTTP_SESSIONS_MAX_COUNT));
    const going = new Set([...idle, ...surplus].map(([id]) => id));
    await Promise.all([...going].map((id) => this.#close(id)));
  }

  async #close(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    if (!this.#sessions.delete(id)) return;
    await session?.server.close();
    await this.#options.onEnd(id);
  }
}

/** The status 404 makes the client start a new connection. */
function notFound(): Response {
  const message = "This connection does not exist any more: begin with initialize again.";
  return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32_001, message } }, { status: 404 });
}
