// Our tools as tools of an MCP server. Arguments go to the tool as they came, so that the model reads our
// words about what is wrong with them and not the SDK's.
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  fromJsonSchema,
  type InputRequiredResult,
  type JsonSchemaType,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
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
        ...(title === undefined ? {} : { title }),
        ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
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
    ...(session === undefined ? {} : { sessionId: session }),
    signal: ctx.mcpReq.signal,
    ...progressOf(call),
    ...(round ? { approve: round.approve } : {}),
    ...(round?.asked ? { asked: round.asked } : {}),
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

/** In the newer era each request says what its client can do, in the older one the handshake did. */
function capabilitiesOf({ ctx, server }: Call): unknown {
  const envelope: Readonly<Record<string, unknown>> = ctx.mcpReq.envelope ?? {};
  return envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.server.getClientCapabilities();
}

/** Sends progress only to a client that asked for it. */
function progressOf({ ctx, deps }: Call): Pick<CallOptions, "onProgress"> {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return {};
  let progress = 0;
  const onProgress = ({ message }: ToolProgress) => {
    progress += 1;
    const params = { progressToken, progress, message };
    // The client may be gone by now; its call is being ended anyway.
    ctx.mcpReq.notify({ method: "notifications/progress", params }).catch((error) => deps.log(String(error)));
  };
  return { onProgress };
}

const UNCHECKED = new TrustingValidator();

// One for all results, and open: a client refuses a key that a closed schema does not name.
const RESULT_SCHEMA: JsonSchemaType = {
  type: "object",
  properties: {
    output: { type: "string", description: "What a person would have seen" },
    error: { type: "string", description: "What went wrong; only if the call failed" },
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

/** Our schemas are JSON Schema; only the SDK's name for them differs. */
function asIs(schema: object): JsonSchemaType {
  return schema;
}
