// The output of every shell as a resource, shell://{id}/output. Clients can list it, read it without moving a cursor,
// and subscribe to its changes.
import {
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
  UriTemplate,
} from "@modelcontextprotocol/server";
import { sizeOf } from "../engine/cursor.ts";
import { resolveExecutionOptions } from "../execution/execution-options.ts";
import { render } from "../execution/render.ts";
import { findShell } from "../execution/scope.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { messageOf } from "../support/errors.ts";
import { RESOURCE_TITLE_MAX_CHARS } from "../support/limits.ts";
import { createContext } from "../tool/context.ts";
import type { ServerDeps } from "./server-deps.ts";

const TEMPLATE = new UriTemplate("shell://{id}/output");
const MIME_TYPE = "text/plain";

export function registerResources(server: Server, deps: ServerDeps): void {
  server.setRequestHandler("resources/list", () => ({ resources: deps.shells().map(describe) }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [
      {
        name: "shell-output",
        uriTemplate: TEMPLATE.toString(),
        title: "Output of a shell",
        description: "The output of a shell so far: stdout, then [stderr] and stderr.",
        mimeType: MIME_TYPE,
      },
    ],
  }));
  server.setRequestHandler("resources/read", async ({ params }) => {
    const uri = parsedUri(params.uri);
    return { contents: [{ uri, mimeType: MIME_TYPE, text: await read(uri, deps) }] };
  });
  serveSubscriptions(server, deps);
}

function parsedUri(uri: string): string {
  if (URL.canParse(uri)) return new URL(uri).href;
  const data = { uri, reason: "invalid_uri" };
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Resource URI ${uri} is invalid`, data);
}

export function uriOf(id: string): string {
  return `shell://${id}/output`;
}

function describe(shell: ShellProcess): ListResourcesResult["resources"][number] {
  const { stdout, stderr } = shell.outputFiles;
  const [line = ""] = shell.command.trim().split("\n", 1);
  return {
    uri: uriOf(shell.id),
    name: shell.id,
    title: line.slice(0, RESOURCE_TITLE_MAX_CHARS),
    description: `Output of ${shell.id}, which is ${shell.status}`,
    mimeType: MIME_TYPE,
    size: sizeOf(stdout) + sizeOf(stderr),
  };
}

async function read(uri: string, deps: ServerDeps): Promise<string> {
  const { manager } = deps.kit;
  const { text } = await render(shellAt(uri, deps).outputParts, resolveExecutionOptions({ manager }));
  return text;
}

/** The shell whose output is at this URI. Throws ResourceNotFoundError if there is none. */
function shellAt(uri: string, { kit, scope }: ServerDeps): ShellProcess {
  const id = TEMPLATE.match(uri)?.["id"];
  if (id === undefined) throw new ResourceNotFoundError(uri);
  try {
    return findShell(kit.manager, String(id), createContext({ workingDir: "/", scope }));
  } catch (error) {
    throw new ResourceNotFoundError(uri, messageOf(error));
  }
}

/** Notifies the client of changes to the resources it wants. Returns a function that stops the notifications. */
export function announce(
  server: Server,
  { watch, log }: ServerDeps,
  wants: (uri: string) => boolean = () => true,
): () => void {
  const failed = (error: unknown) => log(`a notification was not sent: ${messageOf(error)}`);
  return watch.add({
    onList: () => void server.sendResourceListChanged().catch(failed),
    onChange: (id) => {
      const uri = uriOf(id);
      if (wants(uri)) server.sendResourceUpdated({ uri }).catch(failed);
    },
  });
}

/** Subscriptions of the older era, one per resource. The SDK manages the subscriptions of the newer era. */
function serveSubscriptions(server: Server, deps: ServerDeps): void {
  const wanted = new Set<string>();
  let stop: (() => void) | undefined;
  const end = () => {
    stop?.();
    stop = undefined;
  };
  server.setRequestHandler("resources/subscribe", ({ params }) => {
    const uri = parsedUri(params.uri);
    // Throw for an unknown shell: otherwise the client would wait for changes that never come.
    shellAt(uri, deps);
    wanted.add(uri);
    stop ??= announce(server, deps, (uri) => wanted.has(uri));
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    wanted.delete(parsedUri(params.uri));
    if (wanted.size === 0) end();
    return {};
  });
  server.onclose = end;
}
