// The requests of the page, all under /api/. The server has checked token, Host and Origin before. Requests that act
// (kill, answer, forget) need --control.
//
//   GET  /api/shells                    every shell                       GET  /api/approvals      every request
//   GET  /api/shells/ID/output          its output, as events             POST /api/approvals/ID   answer it
//   GET  /api/shells/ID/search?q=RE     lines that match                  GET  /api/remembered     remembered answers
//   GET  /api/shells/ID/processes       what its processes do             POST /api/remembered/ID/forget
//   POST /api/shells/ID/kill            end it                            GET  /api/events         changes, as events
//   GET  /api/server                    what this server allows
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApprovalInbox } from "../approvals/approval-inbox.ts";
import { readStat } from "../engine/process-table.ts";
import { namedReport } from "../execution/leftovers.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ShellManager } from "../shell-manager.ts";
import { NacreError } from "../support/errors.ts";
import { UI_BODY_MAX_BYTES, UI_SEARCH_LINES_COUNT } from "../support/limits.ts";
import type { RememberWish } from "../tool/context.ts";
import { EventStream } from "./event-stream.ts";
import { SECURITY_HEADERS } from "./page-files.ts";
import { pageOutput } from "./page-output.ts";
import type { Sanitize } from "./shell-rows.ts";
import type { UiFeed } from "./ui-feed.ts";

export interface UiApiOptions {
  readonly manager: ShellManager;
  readonly inbox: ApprovalInbox;
  readonly feed: UiFeed;
  /** Hides secrets. */
  readonly redactText: Sanitize;
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

  constructor(options: UiApiOptions) {
    this.#options = options;
    const { feed, inbox, control, version } = options;
    this.#routes = [
      route("GET", "server", () => ({ control, version })),
      route("GET", "shells", () => ({ shells: feed.state().shells })),
      route("GET", "shells/:id/output", (request) => this.#sendOutput(request)),
      route("GET", "shells/:id/search", (request) => this.#search(request)),
      route("GET", "shells/:id/processes", ({ id }) => this.#processes(id)),
      route("POST", "shells/:id/kill", ({ id }) => this.#kill(id)),
      route("GET", "approvals", () => inbox.list()),
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
      const result = await match.run({ id: decodeURIComponent(id), url, body, response });
      if (result !== STREAMS) sendJson(response, 200, result);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else sendJson(response, ...problemOf(error));
    }
  }

  #shell(id: string): ShellProcess {
    const shell = this.#options.manager.getShell(id);
    if (shell) return shell;
    throw new NacreError("shell_not_found", `Shell not found: ${id}. It may have been cleaned up.`);
  }

  async #search({ id, url }: ApiRequest): Promise<unknown> {
    const query = url.searchParams.get("q") ?? "";
    const stream = url.searchParams.get("stream");
    const result = await this.#shell(id).search(query === "" ? undefined : query, {
      maxLines: UI_SEARCH_LINES_COUNT,
      ...(stream === "stdout" || stream === "stderr" ? { stream } : {}),
    });
    const lines = result.lines.map((line) => ({ ...line, text: this.#options.redactText(line.text) }));
    return { ...result, lines };
  }

  async #processes(id: string): Promise<unknown> {
    const diagnosis = await this.#shell(id).why();
    const processes = diagnosis.processes.map((one) => ({
      ...one,
      command: this.#options.redactText(one.command),
      parent: readStat(one.pid)?.parent ?? 0,
    }));
    return { ...diagnosis, processes };
  }

  async #kill(id: string): Promise<unknown> {
    const shell = this.#shell(id);
    const wasRunning = shell.isRunning;
    const report = await shell.kill({ by: "the page" });
    await this.#options.feed.refresh();
    return { id, status: shell.status, was_running: wasRunning, ...namedReport(report, shell) };
  }

  async #answer({ id, body }: ApiRequest): Promise<unknown> {
    const { answer, reason, remember }: { answer?: unknown; reason?: unknown; remember?: unknown } =
      Object(body);
    if (answer !== "approve" && answer !== "deny")
      throw new NacreError("invalid_input", 'The field answer must be "approve" or "deny".');
    const entry = this.#options.inbox[answer](id, {
      ...(typeof reason === "string" && reason !== "" ? { reason } : {}),
      // The store checks it.
      ...(typeof remember === "object" && remember !== null ? { remember: remember as RememberWish } : {}),
    });
    await this.#options.feed.refresh();
    return entry;
  }

  #sendEvents({ response }: ApiRequest): typeof STREAMS {
    const stream = new EventStream(response, this.#options.signal);
    const unsubscribe = this.#options.feed.subscribe((change) => stream.send("change", change));
    stream.onEnd(unsubscribe);
    return STREAMS;
  }

  async #sendOutput({ id, response }: ApiRequest): Promise<typeof STREAMS> {
    const shell = this.#shell(id);
    const stream = new EventStream(response, this.#options.signal);
    for await (const chunks of pageOutput(shell, this.#options.redactText, stream.ended))
      stream.send("output", chunks);
    stream.send("end", { status: shell.status, exit_code: shell.exitCode });
    stream.close();
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

const READ_ONLY =
  "This page is read-only. To answer approvals and to end shells from the page, start it with: nacre ui --control";

/** Reads a JSON body. Refuses other content types, which a form of another page could send. */
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
};

function problemOf(error: unknown): [number, unknown] {
  if (!(error instanceof NacreError))
    return [500, { error: "nacre failed to answer.", error_code: "internal" }];
  return [STATUSES[error.code] ?? 400, { error: error.message, error_code: error.code }];
}
