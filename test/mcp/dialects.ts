// How an agent uses the tools of each dialect, as the tool descriptions explain.
import type { CallToolResult, Client, RequestOptions } from "@modelcontextprotocol/client";
import { dataOf } from "./mcp-clients.ts";

export interface Started {
  readonly id: string;
  readonly pid: number;
  /** The output file. The client of the modes dialect reads it with commands. */
  readonly file: string;
}

export interface DialectInUse {
  readonly dialect: "shells" | "modes";
  readonly tools: readonly string[];
  /** Returns the result text of a failed command with this exit code and output. */
  failed(code: number, output: string): string;
  run(client: Client, command: string, options?: RequestOptions): Promise<CallToolResult>;
  start(client: Client, command: string): Promise<Started>;
  /** Waits until the output contains this line or the process has ended. Returns the output of the wait. */
  wait(client: Client, started: Started, until: { readonly line: string } | "end"): Promise<string>;
  kill(client: Client, started: Started): Promise<CallToolResult>;
}

const SHELLS: DialectInUse = {
  dialect: "shells",
  tools: ["Bash", "BashOutput", "KillShell"],
  failed: (code, output) => `Command failed with exit code ${code}\n${output}`,
  run: (client, command, options) => call(client, "Bash", { command }, options),
  start: async (client, command) =>
    startedBy(await call(client, "Bash", { command, run_in_background: true })),
  wait: async (client, { id }, until) => {
    const wait_for = until === "end" ? "exit" : until.line;
    return outputOf(await call(client, "BashOutput", { bash_id: id, wait_for, wait_ms: 20_000 }));
  },
  kill: (client, { id }) => call(client, "KillShell", { shell_id: id }),
};

// The only tool is `bash`: the client reads, awaits and kills background processes with commands.
const MODES: DialectInUse = {
  dialect: "modes",
  tools: ["bash"],
  failed: (code, output) => `[command failed: exit code ${code}]\n${output}`,
  run: (client, command, options) => call(client, "bash", { command }, options),
  start: async (client, command) => startedBy(await call(client, "bash", { command, mode: "background" })),
  wait: async (client, { file }, until) => {
    const line = until === "end" ? "^\\[background process" : until.line;
    return outputOf(
      await call(client, "bash", {
        command: `until grep -qe '${line}' '${file}'; do sleep 0.02; done; cat '${file}'`,
      }),
    );
  },
  kill: (client, { pid }) => call(client, "bash", { command: `kill -9 -${pid}` }),
};

export const DIALECTS: readonly DialectInUse[] = [SHELLS, MODES];

async function call(
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options?: RequestOptions,
): Promise<CallToolResult> {
  return await client.callTool({ name, arguments: { ...args } }, options);
}

function startedBy(result: CallToolResult): Started {
  const { bash_id, pid, output_file } = dataOf(result);
  return { id: String(bash_id), pid: Number(pid), file: String(output_file) };
}

function outputOf(result: CallToolResult): string {
  return String(dataOf(result)["output"]);
}
