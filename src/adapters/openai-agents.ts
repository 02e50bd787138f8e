// The tools for the OpenAI Agents SDK: as function tools for any model, or as the shell tool that OpenAI's models are
// trained on.
import { type FunctionTool, type ShellTool, shellTool, tool } from "@openai/agents";
import type { Dialect } from "../execution/endings.ts";
import { defined } from "../support/defined.ts";
import type { ToolResult } from "../tool/result.ts";
import type { CallOptions, Toolkit, ToolName } from "../toolkit.ts";

/** `call`: options for every call that this agent makes, such as `sessionId`, `scope` and `approve`. */
export function openaiAgentsTools<D extends Dialect>(
  kit: Toolkit<D>,
  call: CallOptions = {},
): (FunctionTool & { readonly name: ToolName<D> })[] {
  return kit.schemas("mcp").map(({ name, description, inputSchema }) =>
    tool({
      name,
      description,
      parameters: { ...inputSchema, additionalProperties: true } as never,
      // Strict mode would make every parameter required. The tools validate their arguments themselves.
      strict: false,
      execute: async (input, _context, details) => {
        const signal = details?.signal;
        const result = await kit.call(name, input, { ...call, ...defined({ signal }) });
        return result.toDisplay();
      },
    }),
  ) as (FunctionTool & { readonly name: ToolName<D> })[];
}

/** The commands of one call run in order in the session of `call`, and share its state. */
export function openaiShellTool(kit: Toolkit, call: CallOptions = {}): ShellTool {
  return shellTool({
    shell: {
      async run({ commands, timeoutMs, maxOutputLength }) {
        const output = [];
        for (const command of commands) {
          const args = { command, ...defined({ timeout: timeoutMs }) };
          output.push(shellOutputOf(await kit.call("Bash", args, call), maxOutputLength));
        }
        return { output, ...defined({ maxOutputLength }) };
      },
    },
  });
}

function shellOutputOf(result: ToolResult, maxChars = Number.POSITIVE_INFINITY) {
  const ran = result.code === undefined || result.code === "exit_nonzero" || result.code === "timed_out";
  const { exit_code: code } = result.metadata;
  return {
    stdout: result.output.slice(0, maxChars),
    // stdout already includes stderr. This field contains the notes, and the reason if the command did not run.
    stderr: [...(ran ? [] : [result.error ?? ""]), ...result.notes].join("\n"),
    outcome:
      result.code === "timed_out"
        ? { type: "timeout" as const }
        : { type: "exit" as const, exitCode: typeof code === "number" ? code : null },
  };
}
