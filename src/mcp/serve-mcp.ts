// The MCP door: one connection over a pair of streams, served until the client goes or the host says so.
// Whatever the connection has started ends with it.
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { PolicyProfile } from "../execution/options.ts";
import { messageOf } from "../support/errors.ts";
import { DEFAULT_TIMEOUT_MS, MCP_BACKGROUND_AFTER_MS, MCP_PREPARE_AFTER_MS } from "../support/limits.ts";
import { assembleToolkit, type Toolkit, type ToolkitOptions } from "../toolkit.ts";
import { endEverything } from "./end-everything.ts";
import { type Dialect, instructionsFor } from "./instructions.ts";
import { LineTransport } from "./line-transport.ts";
import { createLog } from "./log.ts";
import { registerTools, type Surroundings } from "./tool-adapter.ts";
import { TrustingValidator } from "./trusting-validator.ts";

export interface McpOptions {
  /** Where commands run. Absolute. */
  readonly workingDir: string;
  /** What the server says its version is. */
  readonly version: string;
  /** @default "shells" */
  readonly dialect?: Dialect;
  /** @default "standard" */
  readonly policy?: PolicyProfile;
  /** A JSON file of rules. @default the one in the XDG configuration directory */
  readonly policyFile?: string;
  /** Connections of one scope see each other's shells. @default one of its own */
  readonly scope?: string;
  /** What the session is called that its commands run in. @default "default" */
  readonly session?: string;
  /** What happens to a command whose time is over. @default "background" */
  readonly onTimeout?: "kill" | "background";
  /** Background shells outlive the server. @default false */
  readonly durable?: boolean;
  /** Where shells are kept on disk. */
  readonly stateRoot?: string;
  /** "debug" says on stderr what is going on. */
  readonly logLevel?: string;
}

export interface McpIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: { write(text: string): unknown };
  /** Ends the connection from this side. */
  readonly signal?: AbortSignal;
}

export async function serveMcp(options: McpOptions, io: McpIo): Promise<void> {
  const log = createLog(io.stderr, options.logLevel);
  const kit = assembleToolkit(toolkitOptions(options));
  const surroundings: Surroundings = { kit, log, inFlight: new Set() };
  const transport = new LineTransport(io.stdin, io.stdout);
  const stopPreparing = prepareSoon(kit, io.stderr);
  try {
    const handle = serveStdio(
      ({ era }) => {
        log(`a client of the ${era} era`);
        return createServer(options, surroundings);
      },
      { transport, onerror: (error) => log(`error: ${error.message}`) },
    );
    await untilEnd(transport.closed, io.signal);
    await handle.close();
  } finally {
    stopPreparing();
    await endEverything(surroundings);
    log("everything has ended");
  }
}

/** Once the client has said hello and asked for the tools: it waits for that at every start. Returns how to stop. */
function prepareSoon(kit: Toolkit, stderr: McpIo["stderr"]): () => void {
  let stopped = false;
  const prepare = () =>
    kit.ready().catch((error) => {
      // Calls say the same to the model; this is for the person.
      if (!stopped) stderr.write(`nacre mcp: ${messageOf(error)}\n`);
    });
  const timer = setTimeout(prepare, MCP_PREPARE_AFTER_MS);
  timer.unref();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

function createServer(options: McpOptions, surroundings: Surroundings): McpServer {
  const { dialect = "shells", onTimeout = "background" } = options;
  const instructions = instructionsFor(dialect, onTimeout, surroundings.kit);
  const server = new McpServer(
    { name: "nacre", title: "nacre", version: options.version },
    {
      instructions,
      capabilities: { tools: { listChanged: false } },
      jsonSchemaValidator: new TrustingValidator(),
    },
  );
  registerTools(server, surroundings);
  return server;
}

function toolkitOptions(options: McpOptions): ToolkitOptions {
  const {
    workingDir,
    dialect,
    policy,
    policyFile,
    stateRoot,
    durable = false,
    onTimeout = "background",
  } = options;
  return {
    workingDir,
    onTimeout,
    durable,
    defaultTimeoutMs: onTimeout === "background" ? MCP_BACKGROUND_AFTER_MS : DEFAULT_TIMEOUT_MS,
    scope: options.scope ?? `mcp-${randomUUID()}`,
    ...(options.session === undefined ? {} : { sessionId: options.session }),
    ...(dialect === undefined ? {} : { dialect }),
    door: "mcp",
    ...(policy === undefined ? {} : { policy }),
    ...(policyFile === undefined ? {} : { policyFile }),
    ...(stateRoot === undefined ? {} : { stateRoot }),
  };
}

async function untilEnd(closed: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return await closed;
  await new Promise<void>((resolve) => {
    const end = () => {
      signal.removeEventListener("abort", end);
      resolve();
    };
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    void closed.then(end);
  });
}
