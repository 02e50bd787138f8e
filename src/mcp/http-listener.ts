// Listens on the port, refuses requests that the guard does not accept, and passes the others to the endpoint of their
// token.
import { createServer, type Server, type ServerResponse } from "node:http";
import type { HttpAddress } from "./http-address.ts";
import type { HttpEndpoint } from "./http-endpoint.ts";
import { HttpGuard, type HttpRefusal, MCP_PATH, METHODS } from "./http-guard.ts";
import { listenOnLoopback } from "./listen-on-loopback.ts";
import type { Log } from "./log.ts";

export interface HttpListenerOptions {
  readonly address: HttpAddress;
  /** The accepted tokens. If there are none, the server accepts every request from this machine. */
  readonly tokens: readonly string[];
  /** Creates the endpoint for a token. */
  readonly openEndpoint: (token: string) => HttpEndpoint;
  readonly log: Log;
}

export interface HttpListener {
  readonly url: string;
  /** Stops listening and closes the endpoints. */
  stop(): Promise<void>;
  /** Closes connections that are still open. */
  close(): void;
}

export async function listenHttp(options: HttpListenerOptions): Promise<HttpListener> {
  const { address, tokens, openEndpoint, log } = options;
  const guard = new HttpGuard(tokens);
  const endpoints = new Map<string, HttpEndpoint>();
  const http = createServer((request, response) => {
    const admission = guard.admit(request);
    if ("message" in admission) {
      log(`refused: ${admission.message}`);
      refuse(response, admission);
      return;
    }
    const { token } = admission;
    const endpoint = endpoints.get(token) ?? openEndpoint(token);
    endpoints.set(token, endpoint);
    void endpoint.handle(request, response);
  });
  const url = await listen(http, address);
  return {
    url,
    stop: async () => {
      http.close();
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()));
    },
    close: () => http.closeAllConnections(),
  };
}

/** Answers in JSON-RPC, which the client can read. */
function refuse(response: ServerResponse, { status, message }: HttpRefusal): void {
  const challenge = status === 401 ? { "WWW-Authenticate": 'Bearer realm="nacre"' } : {};
  const allowed = status === 405 ? { Allow: METHODS.join(", ") } : {};
  const head = { "Content-Type": "application/json", Connection: "close", ...challenge, ...allowed };
  response.writeHead(status, head);
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } }));
}

async function listen(http: Server, address: HttpAddress): Promise<string> {
  const port = await listenOnLoopback(http, address);
  return `http://${address.host === "::1" ? "[::1]" : address.host}:${port}${MCP_PATH}`;
}
