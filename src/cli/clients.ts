// The MCP clients that `nacre init` knows: where they store their configuration, and the format of a server entry.
import { join } from "node:path";

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export interface Client {
  readonly name: string;
  readonly title: string;
  readonly aliases: readonly string[];
  readonly format: "json" | "toml";
  /** Relative to the project; undefined if the client has only a user configuration. */
  readonly projectFile: string | undefined;
  readonly userFile: (home: string, env: NodeJS.ProcessEnv) => string;
  /** The key of the object that contains the servers. */
  readonly section: string;
  readonly entry: (server: ServerCommand) => Readonly<Record<string, unknown>>;
  /** Instruction for the person after the configuration is written. `here` names the directory of a project file. */
  readonly nextStep: (here: string) => string;
}

const plainEntry = ({ command, args }: ServerCommand) => ({ command, args });
const typedEntry = (server: ServerCommand) => ({ type: "stdio", ...plainEntry(server) });

export const CLIENTS: readonly Client[] = [
  {
    name: "claude-code",
    title: "Claude Code",
    aliases: ["claude"],
    format: "json",
    projectFile: ".mcp.json",
    userFile: (home) => join(home, ".claude.json"),
    section: "mcpServers",
    entry: typedEntry,
    nextStep: (here) => `Start claude${here}; /mcp lists the server.`,
  },
  {
    name: "codex",
    title: "Codex",
    aliases: [],
    format: "toml",
    projectFile: undefined,
    userFile: (home, env) => join(env["CODEX_HOME"] || join(home, ".codex"), "config.toml"),
    section: "mcp_servers",
    entry: plainEntry,
    nextStep: () => "`codex mcp list` shows the server.",
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    aliases: ["gemini-cli"],
    format: "json",
    projectFile: ".gemini/settings.json",
    userFile: (home) => join(home, ".gemini/settings.json"),
    section: "mcpServers",
    entry: plainEntry,
    nextStep: () => "`gemini mcp list` shows the server.",
  },
  {
    name: "opencode",
    title: "opencode",
    aliases: [],
    format: "json",
    projectFile: "opencode.json",
    userFile: (home, env) => join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "opencode/opencode.json"),
    section: "mcp",
    entry: ({ command, args }) => ({ type: "local", command: [command, ...args], enabled: true }),
    nextStep: (here) => `Start opencode${here}.`,
  },
  {
    name: "cursor",
    title: "Cursor",
    aliases: [],
    format: "json",
    projectFile: ".cursor/mcp.json",
    userFile: (home) => join(home, ".cursor/mcp.json"),
    section: "mcpServers",
    entry: plainEntry,
    nextStep: () => "Enable the server in the settings of Cursor, under MCP.",
  },
  {
    name: "vscode",
    title: "VS Code",
    aliases: ["code", "vs-code"],
    format: "json",
    projectFile: ".vscode/mcp.json",
    userFile: (home, env) => join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "Code/User/mcp.json"),
    section: "servers",
    entry: typedEntry,
    nextStep: () => "Open the file in VS Code and press Start above the server.",
  },
];

export function clientOf(name: string): Client | undefined {
  const wanted = name.toLowerCase();
  return CLIENTS.find((client) => client.name === wanted || client.aliases.includes(wanted));
}
