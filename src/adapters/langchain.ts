// The tools for LangChain: `createAgent({ model, tools: langchainTools(kit) })`.
import { type DynamicStructuredTool, tool } from "@langchain/core/tools";
import type { Dialect } from "../execution/endings.ts";
import { defined } from "../support/defined.ts";
import type { ToolResult } from "../tool/result.ts";
import type { CallOptions, Toolkit, ToolName } from "../toolkit.ts";

/**
 * `call`: options for every call that this agent makes, such as `sessionId`, `scope` and `approve`.
 * The content of the tool message is the text for the model; its artifact is the whole result.
 */
export function langchainTools<D extends Dialect>(
  kit: Toolkit<D>,
  call: CallOptions = {},
): (DynamicStructuredTool & { readonly name: ToolName<D> })[] {
  return kit.schemas("mcp").map(({ name, description, inputSchema }) =>
    tool(
      async (input: unknown, config: { readonly signal?: AbortSignal }): Promise<[string, ToolResult]> => {
        const { signal } = config;
        const result = await kit.call(name, input, { ...call, ...defined({ signal }) });
        return [result.toDisplay(), result];
      },
      { name, description, schema: { ...inputSchema }, responseFormat: "content_and_artifact" },
    ),
  ) as (DynamicStructuredTool & { readonly name: ToolName<D> })[];
}
