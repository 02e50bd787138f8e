// `nacre mcp --remote`: passes messages between a local MCP client and the MCP server at the remote end. Adds a key to
// every tool call, because a call with the same key never runs twice. If the result of a call is lost, answers the call
// with an error.
import type { Readable, Writable } from "node:stream";
import { AuditLog } from "../../audit/audit-log.ts";
import { monotonicMs, wallMs } from "../../support/clock.ts";
import { messageOf, type NacreError } from "../../support/errors.ts";
import { EXCERPT_MAX_CHARS, MCP_DRAIN_MAX_MS } from "../../support/limits.ts";
import { deferred, within } from "../../support/timing.ts";
import { FrameLines } from "../channel/frame-lines.ts";
import { KEY_FIELD, parseMessage, type RpcMessage } from "../channel/rpc-peer.ts";
import { describeLinkChange } from "./link-loss.ts";
import { RemoteClient } from "./remote-client.ts";
import type { RemoteOptions } from "./remote-options.ts";
import { newCallKey } from "./remote-peer.ts";

export interface ProxyIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: { write(text: string): unknown };
  readonly signal: AbortSignal;
  /** Path of the audit log, which contains calls and results. The remote end does not send its verdicts. */
  readonly auditFile?: string;
}

type RequestId = number | string;

export async function proxyMcp(
  remote: RemoteOptions,
  options: Readonly<Record<string, unknown>>,
  io: ProxyIo,
): Promise<void> {
  const audit = io.auditFile === undefined ? undefined : new AuditLog(io.auditFile);
  try {
    await new McpProxy(remote, options, io, audit).run();
  } finally {
    audit?.close();
  }
}

/** A request of the local client that has no answer yet. */
interface PendingRequest {
  readonly message: RpcMessage;
  readonly sentMs: number;
}

class McpProxy {
  readonly #io: ProxyIo;
  readonly #client: RemoteClient;
  readonly #audit: AuditLog | undefined;
  readonly #pending = new Map<RequestId, PendingRequest>();
  readonly #idle = new Set<() => void>();
  /** The messages of the local client's handshake. A new remote end gets them again. */
  #handshake: RpcMessage[] = [];
  /** Ids of repeated handshake requests. The local client has already received answers to them. */
  readonly #repeated = new Set<RequestId>();
  #needsHandshake = false;
  #sending: Promise<void> = Promise.resolve();

  constructor(
    remote: RemoteOptions,
    options: Readonly<Record<string, unknown>>,
    io: ProxyIo,
    audit: AuditLog | undefined,
  ) {
    this.#io = io;
    this.#audit = audit;
    this.#client = new RemoteClient({
      remote,
      purpose: { kind: "mcp", options },
      onMessage: (json) => this.#fromRemote(json),
      onLost: (error) => this.#onLost(error),
      onLink: (change) => {
        io.stderr.write(`nacre mcp: ${describeLinkChange(change)}\n`);
        audit?.write({ type: "link", at: wallMs(), ...change });
      },
    });
  }

  async run(): Promise<void> {
    const { stdin, signal } = this.#io;
    // Do not retry the first connection: if it fails, this command fails with the same error.
    await this.#client.ready();
    const ended = deferred();
    let lines = new FrameLines((line) => this.#fromLocal(line));
    stdin.on("data", (chunk: Buffer) => {
      try {
        lines.push(chunk);
      } catch (error) {
        this.#print({ jsonrpc: "2.0", id: null, error: { code: PARSE_ERROR, message: messageOf(error) } });
        lines = new FrameLines((line) => this.#fromLocal(line));
      }
    });
    stdin.once("end", () => ended.resolve());
    stdin.once("close", () => ended.resolve());
    stdin.once("error", () => ended.resolve());
    signal.addEventListener("abort", () => ended.resolve(), { once: true });
    await ended.promise;
    await this.#sending;
    if (!signal.aborted) await within(MCP_DRAIN_MAX_MS, this.#whenIdle());
    await this.#client.close();
  }

  #whenIdle(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.add(resolve));
  }

  #fromLocal(line: string): void {
    if (line.trim() === "") return;
    let message: RpcMessage | undefined;
    try {
      message = parseMessage(line);
    } catch (error) {
      this.#print({
        jsonrpc: "2.0",
        id: null,
        error: { code: PARSE_ERROR, message: messageOf(error).slice(0, EXCERPT_MAX_CHARS * 2) },
      });
      return;
    }
    if (!message) return;
    const { id, method } = message;
    if (method === "initialize") this.#handshake = [message];
    if (method === "notifications/initialized") this.#handshake.push(message);
    if (method === "notifications/cancelled") this.#settle(Object(message.params).requestId);
    if (id !== undefined && method !== undefined) this.#pending.set(id, { message, sentMs: monotonicMs() });
    if (method === "tools/call") {
      const { name, arguments: given } = Object(message.params);
      this.#audit?.write({ type: "call", at: wallMs(), tool: String(name), arguments: given });
    }
    const sent = method === "tools/call" ? withKey(message) : message;
    this.#sending = this.#sending.then(() => this.#send(sent));
  }

  async #send(message: RpcMessage): Promise<void> {
    try {
      await this.#client.ready();
      if (this.#needsHandshake) this.#repeatHandshake();
      this.#client.send(JSON.stringify(message));
    } catch (error) {
      if (message.id !== undefined) this.#answerLost(message, error as NacreError);
    }
  }

  #fromRemote(json: string): void {
    const message = parseMessage(json);
    if (!message) return;
    const { id, method } = message;
    if (id !== undefined && method === undefined) {
      // Drop an answer that the local client does not expect: the client never sent the call, or has cancelled it.
      if (this.#repeated.delete(id) || !this.#pending.has(id)) return;
      this.#recordResult(id, message);
      this.#settle(id);
    }
    this.#print(message);
  }

  #recordResult(id: RequestId, { result, error }: Pick<RpcMessage, "result" | "error">): void {
    const request = this.#pending.get(id);
    if (request?.message.method !== "tools/call") return;
    const { name } = Object(request.message.params);
    const { isError, structuredContent } = Object(result);
    const success = error === undefined && isError !== true;
    const code: unknown = Object(structuredContent).error_code;
    const durationMs = Math.round(monotonicMs() - request.sentMs);
    const tool = String(name);
    this.#audit?.write({
      ...{ type: "result", at: wallMs(), tool, success, durationMs },
      ...(typeof code === "string" ? { code } : {}),
    });
  }

  #settle(id: RequestId): void {
    this.#pending.delete(id);
    if (this.#pending.size > 0) return;
    for (const resolve of this.#idle) resolve();
    this.#idle.clear();
  }

  #onLost(error: NacreError): void {
    this.#io.stderr.write(`nacre mcp: ${error.message}\n`);
    for (const { message } of [...this.#pending.values()]) this.#answerLost(message, error);
    this.#needsHandshake = true;
  }

  /** A new remote end does not know the local client: repeat its handshake there. */
  #repeatHandshake(): void {
    this.#needsHandshake = false;
    for (const message of this.#handshake) {
      if (message.id !== undefined) this.#repeated.add(message.id);
      this.#client.send(JSON.stringify(message));
    }
  }

  #answerLost({ id, method }: RpcMessage, { code, message }: NacreError): void {
    if (id === undefined || !this.#pending.has(id)) return;
    this.#recordResult(id, { result: { isError: true, structuredContent: { error_code: code } } });
    this.#settle(id);
    if (method === "tools/call") {
      const structuredContent = { output: "", error: message, error_code: code, notes: [] };
      const content = [{ type: "text", text: message }];
      this.#print({ jsonrpc: "2.0", id, result: { content, structuredContent, isError: true } });
    } else this.#print({ jsonrpc: "2.0", id, error: { code: LOST_ERROR, message } });
  }

  #print(message: Omit<RpcMessage, "id"> & { readonly id?: RequestId | null }): void {
    this.#io.stdout.write(`${JSON.stringify(message)}\n`);
  }
}

/** The codes of JSON-RPC. */
const PARSE_ERROR = -32_700;
const LOST_ERROR = -32_000;

/** Adds a key to a tool call. If the client has chosen a key, its key stays. */
function withKey(message: RpcMessage): RpcMessage {
  const params = Object(message.params) as Readonly<Record<string, unknown>>;
  const meta = Object(params["_meta"]) as Readonly<Record<string, unknown>>;
  return { ...message, params: { ...params, _meta: { [KEY_FIELD]: newCallKey(), ...meta } } };
}
