// Listens on the port, refuses requests that the guard does not accept, and passes the others to the endpoint of their
// token.
import { createServer, type Server, type ServerResponse } from "node:http";
import { messageOf, NacreError } from "../support/errors.ts";
import { systemCode } from "../support/system-error.ts";
import type { HttpAddress } from "./http-address.ts";
import type { HttpEndpoint } from "./http-endpoint.ts";
import { HttpGuard, type HttpRefusal, MCP_PATH, METHODS } from "./http-guard.ts";
import type { Log } from "./log.ts";

export interface HttpListenerOptions {
  readonly address: HttpAddress;
  /** The accepted tokens. Empty: every request from this machine. */
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
      `Port ${port} is in use. End the program that listens there, or use another port (0 for any free one).`,
    );
  }
  if (code === "EACCES") {
    return new NacreError("spawn_failed", `Port ${port} requires privileges. Use a port from 1024 up.`);
  }
  return new NacreError("spawn_failed", `The server cannot listen on port ${port}: ${messageOf(error)}`);
}
