// Starts the MCP servers: nacre, the peers and a minimal server. Each server has a temporary home directory, because it
// must not read or write the user's files. Telemetry is turned off.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { peerFile, peerTitle } from "./peers.mjs";

const nacreProgram = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const noopServer = fileURLToPath(new URL("./noop-server.mjs", import.meta.url));

/** `args` start the server, and `call` is its tool call for a command. Returns undefined if the server is missing. */
export const SERVERS = {
  "nacre mcp": () => ({
    title: "nacre mcp",
    args: [nacreProgram, "mcp"],
    call: (command) => ({ name: "Bash", arguments: { command } }),
  }),
  "SDK no-op": () => ({
    title: "a minimal server with the SDK",
    args: [noopServer],
    call: (command) => ({ name: "run", arguments: { command } }),
  }),
  "mcp-server-commands": () =>
    peer("mcp-server-commands", (command) => ({ name: "run_command", arguments: { command } })),
  "desktop-commander": () =>
    peer("desktop-commander", (command) => ({
      name: "start_process",
      arguments: { command, timeout_ms: 60_000 },
    })),
};

function peer(name, call) {
  const file = peerFile(name);
  return file === undefined ? undefined : { title: peerTitle(name), args: [file], call };
}

/** The environment of a server, with a new home directory in `scratch`. */
export function serverEnv(scratch, name) {
  const home = join(scratch, name.replaceAll(" ", "-"));
  mkdirSync(home, { recursive: true });
  return {
    ...process.env,
    HOME: home,
    NACRE_HOME: join(home, "state"),
    SHELL: "/bin/bash",
    DESKTOP_COMMANDER_DISABLE_TELEMETRY: "1",
    DC_FLAG_URL: "http://127.0.0.1:9/",
  };
}

/** Starts the server and a client for it; `close` ends both. */
export async function connect(server, env, cwd) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: server.args,
    env,
    cwd,
    stderr: "ignore",
  });
  const client = new Client({ name: "bench", version: "0" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const pid = transport.pid;
  return {
    client,
    tools,
    pid,
    run: async (command) => textOf(await client.callTool(server.call(command), { timeout: 120_000 })),
    /** Peak memory in MiB. */
    peakMib: () => Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024,
    close: () => client.close(),
  };
}

export function textOf(result) {
  return (result.content ?? []).map((part) => part.text ?? "").join("\n");
}
