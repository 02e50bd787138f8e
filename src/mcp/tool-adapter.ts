// Serves tools/list and tools/call. The SDK does not validate the arguments. The tool does, so that the model reads the
// messages of the tool.
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { defined } from "../support/defined.ts";
import { SHELL_LABEL_MAX_CHARS } from "../support/limits.ts";
import { printable } from "../support/printable.ts";
import type { ResultFate, ToolProgress } from "../tool/context.ts";
import type { ToolResult } from "../tool/result.ts";
import type { BaseTool } from "../tool/tool.ts";
import type { CallOptions } from "../toolkit.ts";
import { canAsk } from "./approvals.ts";
import { RESULT_SCHEMA } from "./result-schema.ts";
import type { ServerDeps } from "./server-deps.ts";
import { CALL_PARAMS, type ToolServer } from "./tool-server.ts";

export function registerTools(server: ToolServer, deps: ServerDeps): void {
  const { registry } = deps.kit;
  server.setRequestHandler("tools/list", () => ({ tools: registry.listAll().map(listed) }));
  server.setRequestHandler(
    "tools/call",
    { params: CALL_PARAMS },
    async ({ name, arguments: args = {} }, ctx) => {
      const tool = registry.get(name);
      if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, registry.describeMissing(name));
      const call = callTool({ tool, args, ctx, server, deps });
      deps.inFlight.add(call);
      return await call.finally(() => deps.inFlight.delete(call));
    },
  );
}

function listed(tool: BaseTool): ListedTool {
  const { name, title, description, annotations } = tool;
  return {
    name,
    ...defined({ title }),
    description,
    inputSchema: asListed(tool.toJsonSchema()),
    ...defined({ annotations: annotations && { ...annotations } }),
    outputSchema: RESULT_SCHEMA,
  };
}

interface Call {
  readonly deps: ServerDeps;
  readonly tool: BaseTool;
  readonly args: unknown;
  readonly ctx: ServerContext;
  readonly server: ToolServer;
}

async function callTool(call: Call): Promise<CallToolResult | InputRequiredResult> {
  const { tool, args, ctx } = call;
  const { kit, scope, session, approvals, log } = call.deps;
  const round = canAsk(capabilitiesOf(call)) ? approvals.round(ctx) : undefined;
  log(`call ${ctx.mcpReq.id}: ${tool.name}`);
  let fate: ResultFate = { delivered: () => {}, dropped: () => {} };
  const result = await kit.call(tool.name, args, {
    scope,
    delivery: (given) => {
      fate = given;
    },
    signal: ctx.mcpReq.signal,
    ...progressOf(call),
    ...defined({
      agentId: clientNameOf(call),
      sessionId: session,
      approve: round?.approve,
      asked: round?.asked,
    }),
  });
  const question = round?.question();
  log(`call ${ctx.mcpReq.id}: ${question ? "asks a person" : (result.code ?? "done")}`);
  if (question) {
    fate.dropped();
    return question;
  }
  void call.deps.whenSent(ctx.mcpReq.id).then(fate.delivered);
  return toMcpResult(result);
}

function toMcpResult(result: ToolResult): CallToolResult {
  return {
    content: [{ type: "text", text: result.toDisplay() }],
    structuredContent: { ...result.toWire() },
    isError: !result.success,
  };
}

/** In the newer era, each request contains the capabilities of its client. In the older era, the handshake does. */
function capabilitiesOf({ ctx, server }: Call): unknown {
  return envelopeOf(ctx)[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
}

function envelopeOf({ mcpReq }: ServerContext): Readonly<Record<string, unknown>> {
  return mcpReq.envelope ?? {};
}

/**
 * The client's own name, which nacre records as the agent of the client's shells. The text is untrusted, so it is
 * reduced to one short line.
 */
function clientNameOf({ ctx, server }: Call): string | undefined {
  const info = envelopeOf(ctx)[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  const { name }: { name?: unknown } = Object(info);
  if (typeof name !== "string") return undefined;
  const bounded = (text: string) => text.slice(0, SHELL_LABEL_MAX_CHARS).toWellFormed();
  return bounded(printable(bounded(name)).replace(/\s+/g, " ").trim()) || undefined;
}

/** Sends progress only if the client asked for it. */
function progressOf({ ctx, deps }: Call): Pick<CallOptions, "onProgress"> {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return {};
  let progress = 0;
  const onProgress = ({ message }: ToolProgress) => {
    progress += 1;
    const params = { progressToken, progress, message };
    // The client may have disconnected. In that case, its call is being cancelled.
    ctx.mcpReq.notify({ method: "notifications/progress", params }).catch((error) => deps.log(String(error)));
  };
  return { onProgress };
}

type ListedTool = ListToolsResult["tools"][number];

/** Converts the type only: the schema of every tool describes an object, as the type of the SDK requires. */
function asListed(schema: object): ListedTool["inputSchema"] {
  return schema as ListedTool["inputSchema"];
}
