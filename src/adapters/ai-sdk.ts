// The tools for the Vercel AI SDK: `generateText({ model, tools: aiSdkTools(kit), … })`.
import { dynamicTool, jsonSchema, type ToolSet } from "ai";
import type { Dialect } from "../execution/endings.ts";
import { defined } from "../support/defined.ts";
import type { ToolResult } from "../tool/result.ts";
import type { CallOptions, Toolkit, ToolName } from "../toolkit.ts";

/** `call`: options for every call that this agent makes, such as `sessionId`, `scope` and `approve`. */
export function aiSdkTools<D extends Dialect>(
  kit: Toolkit<D>,
  call: CallOptions = {},
): Record<ToolName<D>, ToolSet[string]> {
  const tools = kit.schemas("mcp").map(({ name, description, inputSchema }) => {
    const tool = dynamicTool({
      description,
      // The tools validate their arguments themselves and report problems with their own messages.
      inputSchema: jsonSchema({ ...inputSchema }),
      execute: (input, { abortSignal }) =>
        kit.call(name, input, { ...call, ...defined({ signal: abortSignal }) }),
      // The host gets the whole result. The model gets only its text.
      toModelOutput: ({ output }) => modelOutputOf(output as ToolResult),
    });
    return [name, tool] as const;
  });
  return Object.fromEntries(tools) as Record<ToolName<D>, ToolSet[string]>;
}

function modelOutputOf(result: ToolResult): { type: "text" | "error-text"; value: string } {
  return { type: result.success ? "text" : "error-text", value: result.toDisplay() };
}
