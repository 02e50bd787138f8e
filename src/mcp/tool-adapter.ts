// Registers nacre's tools in an MCP server. The arguments are passed on without validation by the SDK, so that the
// model reads the messages of the tool.
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  fromJsonSchema,
  type InputRequiredResult,
  type JsonSchemaType,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { defined } from "../support/defined.ts";
import type { ToolProgress } from "../tool/context.ts";
import type { ToolResult } from "../tool/result.ts";
import type { BaseTool } from "../tool/tool.ts";
import type { CallOptions } from "../toolkit.ts";
import { canAsk } from "./approvals.ts";
import type { ServerDeps } from "./server-deps.ts";
import { TrustingValidator } from "./trusting-validator.ts";

export function registerTools(server: McpServer, deps: ServerDeps): void {
  for (const tool of deps.kit.registry.listAll()) {
    const { name, title, description, annotations } = tool;
    server.registerTool(
      name,
      {
        description,
        inputSchema: fromJsonSchema<unknown>(asIs(tool.toJsonSchema()), UNCHECKED),
        outputSchema: fromJsonSchema<unknown>(RESULT_SCHEMA, UNCHECKED),
        ...defined({ title, annotations: annotations && { ...annotations } }),
      },
      async (args, ctx) => {
        const call = callTool({ tool, args, ctx, server, deps });
        deps.inFlight.add(call);
        return await call.finally(() => deps.inFlight.delete(call));
      },
    );
  }
}

interface Call {
  readonly deps: ServerDeps;
  readonly tool: BaseTool;
  readonly args: unknown;
  readonly ctx: ServerContext;
  readonly server: McpServer;
}

async function callTool(call: Call): Promise<CallToolResult | InputRequiredResult> {
  const { tool, args, ctx } = call;
  const { kit, scope, session, approvals, log } = call.deps;
  const round = canAsk(capabilitiesOf(call)) ? approvals.round(ctx) : undefined;
  log(`call ${ctx.mcpReq.id}: ${tool.name}`);
  const result = await kit.call(tool.name, args, {
    scope,
    signal: ctx.mcpReq.signal,
    ...progressOf(call),
    ...defined({ sessionId: session, approve: round?.approve, asked: round?.asked }),
  });
  const question = round?.question();
  log(`call ${ctx.mcpReq.id}: ${question ? "asks a person" : (result.code ?? "done")}`);
  return question ?? toMcpResult(result);
}

function toMcpResult(result: ToolResult): CallToolResult {
  return {
    content: [{ type: "text", text: result.toDisplay() }],
    structuredContent: { ...result.toWire() },
    isError: !result.success,
  };
}

/** A request of the newer era carries the capabilities of its client. In the older era, the handshake carried them. */
function capabilitiesOf({ ctx, server }: Call): unknown {
  const envelope: Readonly<Record<string, unknown>> = ctx.mcpReq.envelope ?? {};
  return envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.server.getClientCapabilities();
}

/** Sends progress only if the client asked for it. */
function progressOf({ ctx, deps }: Call): Pick<CallOptions, "onProgress"> {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return {};
  let progress = 0;
  const onProgress = ({ message }: ToolProgress) => {
    progress += 1;
    const params = { progressToken, progress, message };
    // The client may have disconnected. Its call is being cancelled anyway.
    ctx.mcpReq.notify({ method: "notifications/progress", params }).catch((error) => deps.log(String(error)));
  };
  return { onProgress };
}

const UNCHECKED = new TrustingValidator();

// One open schema for all results: a client refuses a key that a closed schema does not declare.
const RESULT_SCHEMA: JsonSchemaType = {
  type: "object",
  properties: {
    output: { type: "string", description: "The output as plain text" },
    error: { type: "string", description: "The error message; only if the call failed" },
    error_code: { type: "string" },
    exit_code: { type: ["integer", "null"] },
    duration_ms: { type: "number" },
    truncated: { type: "boolean" },
    bash_id: { type: "string" },
    notes: { type: "array", items: { type: "string" } },
  },
  required: ["output"],
  additionalProperties: true,
};

/** nacre's schemas are JSON Schema. Only the type name of the SDK differs. */
function asIs(schema: object): JsonSchemaType {
  return schema;
}
