// The tools for the OpenAI Agents SDK: as function tools for any model, or as the one shell tool that OpenAI's
// models know by training.
import { type FunctionTool, type ShellTool, shellTool, tool } from "@openai/agents";
import type { ToolResult } from "../tool/result.ts";
import type { CallOptions, Toolkit } from "../toolkit.ts";

/** `call` says what is the same for all calls of this agent: `sessionId`, `scope`, `approve`, … */
export function openaiAgentsTools(kit: Toolkit, call: CallOptions = {}): FunctionTool[] {
  return kit.schemas("mcp").map(({ name, description, inputSchema }) =>
    tool({
      name,
      description,
      parameters: { ...inputSchema, additionalProperties: true } as never,
      // Optional parameters stay optional; our tools check their arguments themselves.
      strict: false,
      execute: async (input, _context, details) => {
        const signal = details?.signal;
        const result = await kit.call(name, input, { ...call, ...(signal ? { signal } : {}) });
        return result.toDisplay();
      },
    }),
  ) as FunctionTool[];
}

/** Commands of one call run in order, in the session of `call`; what one leaves behind the next finds. */
export function openaiShellTool(kit: Toolkit, call: CallOptions = {}): ShellTool {
  return shellTool({
    shell: {
      async run({ commands, timeoutMs, maxOutputLength }) {
        const output = [];
        for (const command of commands) {
          const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
          output.push(shellOutputOf(await kit.call("Bash", { command, ...timeout }, call), maxOutputLength));
        }
        return { output, ...(maxOutputLength === undefined ? {} : { maxOutputLength }) };
      },
    },
  });
}

function shellOutputOf(result: ToolResult, maxChars = Number.POSITIVE_INFINITY) {
  const ran = result.code === undefined || result.code === "exit_nonzero" || result.code === "timed_out";
  const { exit_code: code } = result.metadata;
  return {
    stdout: result.output.slice(0, maxChars),
    // What kept it from running has no other place; what it printed to stderr stands in the output.
    stderr: [...(ran ? [] : [result.error ?? ""]), ...result.notes].join("\n"),
    outcome:
      result.code === "timed_out"
        ? { type: "timeout" as const }
        : { type: "exit" as const, exitCode: typeof code === "number" ? code : null },
  };
}
