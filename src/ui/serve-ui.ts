// Serves the page on the loopback interface until the signal aborts. Every local request can get the static files;
// requests under /api/ need the token.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { ApprovalDesk } from "../approvals/approval-desk.ts";
import { approvalInbox } from "../approvals/approval-inbox.ts";
import { HttpGuard } from "../mcp/http-guard.ts";
import { listenOnLoopback } from "../mcp/listen-on-loopback.ts";
import type { ShellManager } from "../shell-manager.ts";
import { UI_PORT_COUNT } from "../support/limits.ts";
import { systemCode } from "../support/system-error.ts";
import { LocalShells } from "./local-shells.ts";
import { MachineShells } from "./machine-shells.ts";
import { pageApproval } from "./page-approvals.ts";
import { PageFiles } from "./page-files.ts";
import { type RedirectFile, touchRedirect, writeRedirect } from "./redirect-file.ts";
import { sendJson, UiApi } from "./ui-api.ts";
import { UiFeed } from "./ui-feed.ts";

export interface UiOptions {
  readonly manager: ShellManager;
  /** 0: any free port. undefined: the usual port, or any free one if it is taken. */
  readonly port: number | undefined;
  /** Whether the page may answer approvals, end shells and type. */
  readonly control: boolean;
  /** The URLs of the remote machines that the page also shows. */
  readonly remotes: readonly string[];
  readonly version: string;
}

export interface UiAddress extends RedirectFile {
  readonly url: string;
}

export interface UiIo {
  readonly signal: AbortSignal;
  readonly onListening: (address: UiAddress) => void;
}

export async function serveUi(options: UiOptions, { signal, onListening }: UiIo): Promise<void> {
  const { manager, control, version, remotes } = options;
  const files = new PageFiles();
  let api: UiApi | undefined;
  let guard: HttpGuard | undefined;
  const http = createServer((request, response) => {
    if (guard && api) answer(request, response, { guard, api, files });
    else response.destroy();
  });
  const port = await listen(http, options.port);
  const redirect = writeRedirect(manager.root, port);
  guard = new HttpGuard([redirect.token], TOKEN_HINT);
  const inbox = approvalInbox(ApprovalDesk.of(manager.root), "the page");
  const local = new LocalShells(manager);
  const shells = new MachineShells(local, { urls: remotes, control });
  const feed = new UiFeed({
    state: () => ({
      shells: shells.rows(),
      approvals: inbox.list().map(pageApproval),
      machines: shells.machines(),
      older_count: local.olderCount(),
    }),
    measure: () => shells.measure(),
    watch: (isWatched) => shells.watch(isWatched),
  });
  api = new UiApi({ shells, inbox, feed, control, version, signal });
  onListening({ ...redirect, url: `http://127.0.0.1:${port}/` });
  try {
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
      if (signal.aborted) resolve();
    });
  } finally {
    http.close();
    http.closeAllConnections();
    shells.watch(false);
    touchRedirect(redirect);
  }
}

const TOKEN_HINT = "Open the page through the file that nacre ui prints; it contains the token.";

interface Parts {
  readonly guard: HttpGuard;
  readonly api: UiApi;
  readonly files: PageFiles;
}

function answer(request: IncomingMessage, response: ServerResponse, { guard, api, files }: Parts): void {
  const refusal = guard.refuseForeign(request);
  if (refusal) {
    sendJson(response, refusal.status, { error: refusal.message });
    return;
  }
  const [path = "/"] = (request.url ?? "/").split("?", 1);
  if (path === "/api" || path.startsWith("/api/")) {
    const admission = guard.admitToken(request);
    if ("message" in admission) {
      response.setHeader("WWW-Authenticate", 'Bearer realm="nacre"');
      sendJson(response, admission.status, { error: admission.message });
    } else void api.handle(request, response);
    return;
  }
  if (request.method !== "GET" && request.method !== "HEAD")
    sendJson(response, 405, { error: `${request.method} is not supported here.` });
  else if (!files.send(path, response)) sendJson(response, 404, { error: "There is no such page." });
}

/** Listens on the given port. Without one, listens on the usual port or, if that is taken, on any free port. */
async function listen(http: ReturnType<typeof createServer>, port: number | undefined): Promise<number> {
  const host = "127.0.0.1";
  if (port !== undefined) return await listenOnLoopback(http, { host, port });
  try {
    return await listenOnLoopback(http, { host, port: UI_PORT_COUNT });
  } catch (error) {
    if (systemCode((error as Error).cause) !== "EADDRINUSE") throw error;
    return await listenOnLoopback(http, { host, port: 0 });
  }
}
