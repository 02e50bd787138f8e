// Sends the built program messages that no client library would send.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { type McpTests, program, TOKENS } from "./mcp-clients.ts";

/** The handshake of the legacy era. */
export const HELLO = [
  {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
] as const;

/** The `_meta` fields about the client in every request of the modern era. */
export const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
} as const;

export function bash(id: number, command: string): Record<string, unknown> {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name: "Bash", arguments: { command } } };
}

export interface RawServer {
  readonly child: ChildProcess;
  readonly exited: Promise<{ readonly code: unknown; readonly signal: unknown }>;
  readonly stdout: () => string;
  send(...messages: readonly unknown[]): void;
  sendText(text: string): void;
}

/** Starts `nacre mcp` with these arguments, without a client. */
export function rawServer(mcp: McpTests, words: readonly string[] = []): RawServer {
  const dir = mcp.directory();
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", NACRE_HOME: join(dir, "state") };
  const child = spawn(process.execPath, [program, "mcp", ...words], { cwd: dir, env, stdio: "pipe" });
  mcp.endWith(async () => {
    child.stdin.end();
    await exited;
  });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  const exited = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  const sendText = (text: string) => void child.stdin.write(text);
  const send: RawServer["send"] = (...messages) => {
    for (const message of messages) sendText(`${JSON.stringify(message)}\n`);
  };
  return { child, exited, stdout: () => stdout, send, sendText };
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Sends a POST request, or a GET request if there is no body. */
export async function post(
  url: string,
  body: string | Buffer | undefined,
  headers: Readonly<Record<string, string>> = {},
  method = body === undefined ? "GET" : "POST",
): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          authorization: `Bearer ${TOKENS[0]}`,
          ...headers,
        },
      },
      (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }),
        );
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}
