// Reads the command line of the MCP server from a client's configuration: one of four JSON forms, TOML, or a
// `claude mcp add` command. Returns undefined for any other text.

/** @returns {{ command: string, args: string[] } | undefined} */
export function serverOf(text) {
  return fromJson(text) ?? fromToml(text) ?? fromCommand(text);
}

function fromJson(text) {
  if (!text.trimStart().startsWith("{")) return undefined;
  const config = JSON.parse(text);
  const server = (config.mcpServers ?? config.servers ?? config.mcp)?.nacre;
  if (server === undefined) return undefined;
  const [command, ...args] = [server.command, server.args ?? []].flat();
  return { command, args };
}

/** One table with a key per line. Its strings and arrays are also valid JSON. */
function fromToml(text) {
  const [head, ...lines] = text.trim().split("\n");
  if (head !== "[mcp_servers.nacre]") return undefined;
  const entries = lines.map((line) => {
    const [, key, value] = /^(\w+) = (.+)$/.exec(line);
    return [key, JSON.parse(value)];
  });
  const { command, args = [] } = Object.fromEntries(entries);
  return { command, args };
}

function fromCommand(text) {
  const [, line] = /^claude mcp add nacre -- (.+)$/m.exec(text) ?? [];
  if (line === undefined) return undefined;
  const [command, ...args] = line.split(" ");
  return { command, args };
}
