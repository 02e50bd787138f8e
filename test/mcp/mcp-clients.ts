// Real MCP clients of both protocol eras, connected to a server in this process or to the built program.
// After every test, or every group of tests, hooks close the clients and wait until the servers have exited. After the
// last test, a hook checks that no process is left.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  type CallToolResult,
  Client,
  type ClientCapabilities,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, expect } from "vitest";
import { ROOT_NAMES } from "../../src/engine/state-dir.ts";
import type { McpOptions } from "../../src/mcp/mcp-options.ts";
import { serveStdio } from "../../src/mcp/serve-stdio.ts";
import { useLeakProof } from "../fixtures/leak-proof.ts";
import { eventually } from "../fixtures/shells.ts";
import { StreamTransport } from "./stream-transport.ts";

export const ERAS = ["legacy", "modern"] as const;
export type Era = (typeof ERAS)[number];

export const program = join(dirname(fileURLToPath(import.meta.url)), "../../dist/cli/main.js");

export interface OpenOptions extends Partial<McpOptions> {
  readonly era?: Era;
  readonly capabilities?: ClientCapabilities;
  /** The name that the client sends. */
  readonly clientName?: string;
  /** Called before the client connects, to set its handlers. */
  readonly prepare?: (client: Client) => void;
}

export interface Connection {
  readonly client: Client;
  /** The working directory of commands. */
  readonly dir: string;
  /** The server's stderr so far. */
  readonly stderr: () => string;
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>;
}

export interface InProcess extends Connection {
  readonly transport: StreamTransport;
  /** Ends the server as a signal to the program would. */
  readonly interrupt: () => void;
  readonly served: Promise<void>;
}

export interface OverStdio extends Connection {
  readonly transport: StdioClientTransport;
  readonly pid: number;
}

export interface OverHttp extends Connection {
  readonly url: string;
  readonly token: string;
  readonly child: ChildProcess;
  /** Connects another client to the same server. */
  readonly another: (options?: OpenOptions & { readonly token?: string }) => Promise<Client>;
}

export interface McpTests {
  /** Starts a server in this process, connected through a pair of streams. */
  inProcess(options?: OpenOptions): Promise<InProcess>;
  /** Starts `nacre mcp` with these arguments in a separate process. */
  overStdio(words: readonly string[], options?: OpenOptions): Promise<OverStdio>;
  /** Starts `nacre mcp --http 0` with these arguments, and connects a client. */
  overHttp(words: readonly string[], options?: OpenOptions): Promise<OverHttp>;
  /** Creates a directory that no process may use after the last test. */
  directory(): string;
  /** Calls `end` before the directories are checked for leaked processes. */
  endWith(end: () => Promise<unknown>): void;
}

/** Call once per test file, or once per group of tests that share a server (then with `afterAll`). */
export function useMcp(after: (end: () => Promise<void>) => void = afterEach): McpTests {
  const directory = useLeakProof();
  let endings: (() => Promise<unknown>)[] = [];

  after(async () => {
    const ending = endings;
    endings = [];
    for (const end of ending) await end();
  });

  const inProcess: McpTests["inProcess"] = async (options = {}) => {
    const { era, capabilities, clientName, prepare, ...server } = options;
    const root = directory();
    const dir = workDir(root);
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    let stderr = "";
    const ending = new AbortController();
    const served = serveStdio(
      { workingDir: dir, stateRoot: join(root, "state"), version: "1.2.3", ...server },
      { stdin, stdout, stderr: { write: (text) => (stderr += text) }, signal: ending.signal },
    );
    const transport = new StreamTransport(stdout, stdin);
    const client = createClient({ ...options });
    endings.push(async () => {
      await client.close();
      await served;
    });
    await client.connect(transport);
    return { ...connection(client, dir, () => stderr), transport, served, interrupt: () => ending.abort() };
  };

  const overStdio: McpTests["overStdio"] = async (words, options = {}) => {
    const root = directory();
    const dir = workDir(root);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, "mcp", ...words],
      cwd: dir,
      env: environment(root),
      stderr: "pipe",
    });
    let stderr = "";
    transport.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const client = createClient(options);
    endings.push(() => client.close());
    await client.connect(transport);
    return { ...connection(client, dir, () => stderr), transport, pid: transport.pid ?? -1 };
  };

  const overHttp: McpTests["overHttp"] = async (words, options = {}) => {
    const root = directory();
    const dir = workDir(root);
    const env = { ...environment(root), NACRE_MCP_TOKEN: TOKENS.join(" ") };
    const child = spawn(process.execPath, [program, "mcp", "--http", "0", ...words], {
      cwd: dir,
      env,
      stdio: ["ignore", "inherit", "pipe"],
    });
    const exited = once(child, "exit");
    endings.push(async () => {
      child.kill("SIGTERM");
      expect((await exited)[0]).toBe(0);
    });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    await eventually(() => expect(stderr).toMatch(/listening on \S+\n/), 20_000);
    const [, url = ""] = /listening on (\S+)\n/.exec(stderr) ?? [];
    const another: OverHttp["another"] = async ({ token = TOKENS[0], ...more } = {}) => {
      const client = createClient(more);
      endings.unshift(() => client.close());
      const requestInit = { headers: { Authorization: `Bearer ${token}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
      return client;
    };
    const client = await another(options);
    return { ...connection(client, dir, () => stderr), url, token: TOKENS[0], child, another };
  };

  const endWith = (end: () => Promise<unknown>) => void endings.push(end);
  return { inProcess, overStdio, overHttp, directory, endWith };
}

/** The tokens that the server of `overHttp` admits. */
export const TOKENS = ["a-token-for-the-first", "a-token-for-the-second"] as const;

/** The directory in which the first server stores its compiled code. */
let compiled: string | undefined;

function environment(root: string): Record<string, string> {
  const state = join(root, "state");
  const own = join(state, ROOT_NAMES.codeCache);
  // Reuse the compiled code, because compiling takes half of a server's start time.
  if (compiled !== undefined && existsSync(compiled)) {
    mkdirSync(state, { mode: 0o700 });
    cpSync(compiled, own, { recursive: true });
  } else compiled = own;
  return {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    NACRE_HOME: state,
    NACRE_LOG: "debug",
  };
}

function createClient({ era = "modern", capabilities = {}, clientName, prepare }: OpenOptions): Client {
  const client = new Client(
    { name: clientName ?? "test", version: "1.0.0" },
    {
      capabilities,
      versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
    },
  );
  prepare?.(client);
  return client;
}

function connection(client: Client, dir: string, stderr: () => string): Connection {
  return { client, dir, stderr, call: (name, args = {}) => client.callTool({ name, arguments: args }) };
}

function workDir(root: string): string {
  const dir = join(root, "work");
  mkdirSync(dir);
  return dir;
}

/** The text block of a result. */
export function textOf({ content }: CallToolResult): string {
  const [first] = content;
  return first?.type === "text" ? first.text : "";
}

/** The structured part of a result. */
export function dataOf({ structuredContent }: CallToolResult): Record<string, unknown> {
  return { ...Object(structuredContent) };
}
