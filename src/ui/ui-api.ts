// The requests of the page, all under /api/. The server has already checked token, Host and Origin. Requests that act
// (kill, type, answer, forget) need --control. Shells of remote machines have the same requests (machine-shells.ts).
//
//   GET  /api/shells                    every shell                       GET  /api/approvals      every request
//   GET  /api/shells/ID/output          its output, as events             POST /api/approvals/ID   answer it
//   GET  /api/shells/ID/search?q=RE     lines that match                  GET  /api/remembered     remembered answers
//   GET  /api/shells/ID/processes       what its processes do             POST /api/remembered/ID/forget
//   GET  /api/shells/ID/screen          the screen of its terminal, as events
//   POST /api/shells/ID/type            types into its terminal           GET  /api/events         changes, as events
//   POST /api/shells/ID/kill            end it                            GET  /api/server         what this server allows
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApprovalInbox } from "../approvals/approval-inbox.ts";
import { NacreError } from "../support/errors.ts";
import { UI_BODY_MAX_BYTES, UI_STREAMS_MAX_COUNT } from "../support/limits.ts";
import type { RememberWish } from "../tool/context.ts";
import { EventStream } from "./event-stream.ts";
import type { MachineShells } from "./machine-shells.ts";
import { SECURITY_HEADERS } from "./page-files.ts";
import type { PageEnd, PageSink } from "./shell-source.ts";
import type { UiFeed } from "./ui-feed.ts";

export interface UiApiOptions {
  readonly shells: MachineShells;
  readonly inbox: ApprovalInbox;
  readonly feed: UiFeed;
  /** Whether requests may act. */
  readonly control: boolean;
  readonly version: string;
  /** Ends every stream. */
  readonly signal: AbortSignal;
}

interface Route {
  readonly method: "GET" | "POST";
  readonly path: RegExp;
  readonly run: (request: ApiRequest) => unknown;
}

interface ApiRequest {
  readonly id: string;
  readonly url: URL;
  readonly body: unknown;
  readonly response: ServerResponse;
}

/** A route that sends events itself. */
const STREAMS = Symbol("streams");

export class UiApi {
  readonly #options: UiApiOptions;
  readonly #routes: readonly Route[];
  #streamCount = 0;

  constructor(options: UiApiOptions) {
    this.#options = options;
    const { feed, inbox, control, version } = options;
    this.#routes = [
      route("GET", "server", () => ({ control, version })),
      route("GET", "shells", () => {
        const { shells, machines } = feed.state();
        return { shells, machines };
      }),
      route("GET", "shells/:id/output", (request) => this.#sendOutput(request)),
      route("GET", "shells/:id/search", (request) => this.#search(request)),
      route("GET", "shells/:id/processes", ({ id }) => this.#processes(id)),
      route("GET", "shells/:id/screen", (request) => this.#sendScreen(request)),
      route("POST", "shells/:id/kill", ({ id }) => this.#kill(id)),
      route("POST", "shells/:id/type", (request) => this.#type(request)),
      route("GET", "approvals", () => feed.state().approvals),
      route("POST", "approvals/:id", (request) => this.#answer(request)),
      route("GET", "remembered", () => inbox.remembered()),
      route("POST", "remembered/:id/forget", ({ id }) => inbox.forget(id)),
      route("GET", "events", (request) => this.#sendEvents(request)),
    ];
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const found = this.#routes.filter(({ path }) => path.test(url.pathname));
    const match = found.find(({ method }) => method === request.method);
    if (!match) {
      const isKnown = found.length > 0;
      const error = isKnown
        ? `${request.method} is not supported here.`
        : `There is nothing at ${url.pathname}.`;
      sendJson(response, isKnown ? 405 : 404, { error });
      return;
    }
    if (match.method === "POST" && !this.#options.control) {
      sendJson(response, 403, { error: READ_ONLY, error_code: "read_only" });
      return;
    }
    try {
      const [, id = ""] = match.path.exec(url.pathname) ?? [];
      const body = match.method === "POST" ? await readBody(request) : undefined;
      const result = await match.run({ id: decoded(id), url, body, response });
      if (result !== STREAMS) sendJson(response, 200, result);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else sendJson(response, ...problemOf(error));
    }
  }

  async #search({ id, url }: ApiRequest): Promise<unknown> {
    const stream = url.searchParams.get("stream");
    const machine = this.#options.shells.find(id);
    return await machine.source.search(machine.id, {
      pattern: url.searchParams.get("q") ?? "",
      ...(stream === "stdout" || stream === "stderr" ? { stream } : {}),
    });
  }

  async #processes(id: string): Promise<unknown> {
    const machine = this.#options.shells.find(id);
    return await machine.source.processes(machine.id);
  }

  async #kill(id: string): Promise<unknown> {
    const machine = this.#options.shells.find(id);
    const report = await machine.source.kill(machine.id);
    await this.#options.feed.refresh();
    return report;
  }

  async #type({ id, body }: ApiRequest): Promise<unknown> {
    const { text, keys }: { text?: unknown; keys?: unknown } = Object(body);
    const isInput =
      (text === undefined || typeof text === "string") &&
      (keys === undefined || (Array.isArray(keys) && keys.every((key) => typeof key === "string")));
    if (!isInput)
      throw new NacreError("invalid_input", "text must be a string, and keys a list of names of keys.");
    const machine = this.#options.shells.find(id);
    return await machine.source.type(machine.id, { text, keys });
  }

  async #answer({ id, body }: ApiRequest): Promise<unknown> {
    const { answer, reason, remember }: { answer?: unknown; reason?: unknown; remember?: unknown } =
      Object(body);
    if (answer !== "approve" && answer !== "deny")
      throw new NacreError("invalid_input", 'The field answer must be "approve" or "deny".');
    const entry = this.#options.inbox[answer](id, {
      ...(typeof reason === "string" && reason !== "" ? { reason } : {}),
      // The store checks the fields of `remember`.
      ...(typeof remember === "object" && remember !== null ? { remember: remember as RememberWish } : {}),
    });
    await this.#options.feed.refresh();
    return entry;
  }

  /**
   * Counts the stream as open until its response closes. Throws if too many streams are open, because each takes
   * memory. Call this before any work for the stream starts: once a remote machine sends pieces, nacre can no longer
   * refuse the stream.
   */
  #reserveStream(response: ServerResponse): void {
    if (this.#streamCount >= UI_STREAMS_MAX_COUNT)
      throw new NacreError(
        "limit_reached",
        `${UI_STREAMS_MAX_COUNT} streams are open. Close other tabs of this page.`,
      );
    this.#streamCount += 1;
    response.once("close", () => {
      this.#streamCount -= 1;
    });
  }

  #sendEvents({ response }: ApiRequest): typeof STREAMS {
    this.#reserveStream(response);
    const stream = new EventStream(response, this.#options.signal);
    const unsubscribe = this.#options.feed.subscribe((change) => stream.send("change", change));
    stream.onEnd(unsubscribe);
    return STREAMS;
  }

  async #sendOutput({ id, response }: ApiRequest): Promise<typeof STREAMS> {
    const machine = this.#options.shells.find(id);
    return await this.#sendPieces(response, "output", (sink) => machine.source.output(machine.id, sink));
  }

  async #sendScreen({ id, response }: ApiRequest): Promise<typeof STREAMS> {
    const machine = this.#options.shells.find(id);
    return await this.#sendPieces(response, "screen", (sink) => machine.source.screen(machine.id, sink));
  }

  /** Opens the stream with the first piece, so that an earlier failure can still be an ordinary error response. */
  async #sendPieces(
    response: ServerResponse,
    event: string,
    follow: (sink: PageSink<unknown>) => Promise<PageEnd>,
  ): Promise<typeof STREAMS> {
    this.#reserveStream(response);
    const closed = new AbortController();
    response.once("close", () => closed.abort());
    let stream: EventStream | undefined;
    const open = () => {
      stream ??= new EventStream(response, this.#options.signal);
      return stream;
    };
    const send = (piece: unknown) => {
      // A remote machine can send another piece after the page has closed the stream.
      if (!closed.signal.aborted) open().send(event, piece);
    };
    const end = await follow({ signal: closed.signal, send });
    if (closed.signal.aborted) return STREAMS;
    open().send("end", end);
    open().close();
    return STREAMS;
  }
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const headers = { ...SECURITY_HEADERS, "Content-Type": "application/json; charset=utf-8" };
  response.writeHead(status, headers);
  response.end(JSON.stringify(value));
}

function route(method: Route["method"], path: string, run: Route["run"]): Route {
  return { method, path: new RegExp(`^/api/${path.replace(":id", "([^/]+)")}$`), run };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new NacreError("invalid_input", `The address contains ${part}, which is not valid.`);
  }
}

const READ_ONLY =
  "This page is read-only. To answer approvals, to end shells and to type from the page, start it with: nacre ui --control";

/** Reads a JSON body. Refuses other content types, because a form on another site could send them. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? ""))
    throw new NacreError("invalid_input", "Send the body as application/json.");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > UI_BODY_MAX_BYTES)
      throw new NacreError("invalid_input", `The body is larger than ${UI_BODY_MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString() || "{}");
  } catch {
    throw new NacreError("invalid_input", "The body is not JSON.");
  }
}

const STATUSES: Readonly<Record<string, number>> = {
  shell_not_found: 404,
  swept: 410,
  conflict: 409,
  approval_expired: 410,
  unavailable: 503,
  limit_reached: 429,
  remote_lost: 503,
};

function problemOf(error: unknown): [number, unknown] {
  if (!(error instanceof NacreError))
    return [500, { error: "nacre failed to answer.", error_code: "internal" }];
  return [STATUSES[error.code] ?? 400, { error: error.message, error_code: error.code }];
}
