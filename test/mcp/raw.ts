// Says to the built program what no client of a library would.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { type McpTests, program, TOKENS } from "./mcp-clients.ts";

/** The first words of the older era. */
export const HELLO = [
  {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
] as const;

/** What every request of the newer era says of its client. */
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
  say(...messages: readonly unknown[]): void;
  sayText(text: string): void;
}

/** `nacre mcp` with these words, without a client. */
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
  const sayText = (text: string) => void child.stdin.write(text);
  const say: RawServer["say"] = (...messages) => {
    for (const message of messages) sayText(`${JSON.stringify(message)}\n`);
  };
  return { child, exited, stdout: () => stdout, say, sayText };
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A POST, or a GET where there is no body. */
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
