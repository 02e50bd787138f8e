// A minimal MCP server with the SDK: one tool that answers at once. Its time is the lower bound for the other servers.
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const server = new McpServer({ name: "noop", version: "0" });
server.registerTool(
  "run",
  { description: "Does nothing.", inputSchema: z.object({ command: z.string() }) },
  async () => ({ content: [{ type: "text", text: "hi\n" }] }),
);
await server.connect(new StdioServerTransport());
