// The tools for Anthropic's SDK: for its tool runner, or as the `bash_20250124` tool that Claude is trained on.

import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import { ToolError } from "@anthropic-ai/sdk/lib/tools/ToolError";
import type { Dialect } from "../execution/endings.ts";
import { defined } from "../support/defined.ts";
import type { ToolResult } from "../tool/result.ts";
import type { CallOptions, Toolkit, ToolName } from "../toolkit.ts";

/**
 * For `client.beta.messages.toolRunner({ tools: anthropicTools(kit), … })`.
 * `call`: options for every call that this agent makes, such as `sessionId`, `scope` and `approve`.
 */
export function anthropicTools<D extends Dialect>(
  kit: Toolkit<D>,
  call: CallOptions = {},
): (BetaRunnableTool<unknown> & { readonly name: ToolName<D> })[] {
  return kit.schemas("anthropic").map((tool) => ({
    type: "custom" as const,
    ...tool,
    name: tool.name as ToolName<D>,
    input_schema: { ...tool.input_schema, type: "object" as const },
    parse: (input: unknown) => input,
    run: async (input, context) => {
      const signal = context?.signal ?? undefined;
      return textOf(await kit.call(tool.name, input, { ...call, ...defined({ signal }) }));
    },
  }));
}

/** The input of the `bash_20250124` tool. */
export interface AnthropicBashInput {
  readonly command?: string;
  readonly restart?: boolean;
}

/** Uses one bash for all calls, as the `bash_20250124` tool promises. `restart` replaces that bash. */
export function anthropicBash(kit: Toolkit, call: CallOptions = {}): BetaRunnableTool<AnthropicBashInput> {
  return {
    type: "bash_20250124",
    name: "bash",
    parse: (input) => input as AnthropicBashInput,
    run: async ({ command, restart }, context) => {
      if (restart) {
        await kit.session(call.sessionId, call).restart();
        return "The shell has been restarted.";
      }
      const signal = context?.signal ?? undefined;
      const tool: string = "Bash";
      return textOf(await kit.call(tool, { command }, { ...call, ...defined({ signal }) }));
    },
  };
}

/** Throws for a failed result, because the runner reports a thrown error to the model as an error. */
function textOf(result: ToolResult): string {
  if (!result.success) throw new ToolError(result.toDisplay());
  return result.toDisplay();
}
