// Creates a server of the SDK with nacre's tools and resources: for a connection, or for one HTTP request of the newer
// protocol era. ServerDeps contains everything that outlives the server. The SDK divides the protocol versions into two
// eras: the 2025 versions are the older era, and the newer era begins with 2026-07-28.
import "./quick-guards.ts";
import { instructionsFor } from "./instructions.ts";
import type { McpOptions } from "./mcp-options.ts";
import type { ServerDeps } from "./server-deps.ts";
import { registerResources } from "./shell-resources.ts";
import { registerTools } from "./tool-adapter.ts";
import { ToolServer } from "./tool-server.ts";
import { TrustingValidator } from "./trusting-validator.ts";

export function createServer(options: McpOptions, deps: ServerDeps): ToolServer {
  const { dialect = "shells", onTimeout } = options;
  const server = new ToolServer(
    { name: "nacre", title: "nacre", version: options.version },
    {
      instructions: instructionsFor(dialect, onTimeout, deps.kit),
      capabilities: {
        tools: { listChanged: false },
        resources: { subscribe: true, listChanged: true },
      },
      jsonSchemaValidator: new TrustingValidator(),
    },
  );
  registerTools(server, deps);
  registerResources(server, deps);
  return server;
}
