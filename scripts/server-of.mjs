// The command line of the MCP server that a client's configuration names, read as that client would: JSON in its four
// shapes, TOML, or the words of `claude mcp add`. undefined where a text is none.

/** @returns {{ command: string, args: string[] } | undefined} */
export function serverOf(text) {
  return fromJson(text) ?? fromToml(text) ?? fromWords(text);
}

function fromJson(text) {
  if (!text.trimStart().startsWith("{")) return undefined;
  const config = JSON.parse(text);
  const server = (config.mcpServers ?? config.servers ?? config.mcp)?.nacre;
  if (server === undefined) return undefined;
  const [command, ...args] = [server.command, server.args ?? []].flat();
  return { command, args };
}

/** Of a table, each key on a line of its own; its strings and arrays are JSON's, too. */
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

function fromWords(text) {
  const [, words] = /^claude mcp add nacre -- (.+)$/m.exec(text) ?? [];
  if (words === undefined) return undefined;
  const [command, ...args] = words.split(" ");
  return { command, args };
}
