// Creates the endpoint for a client, according to the purpose in the client's hello.
import type { McpOptions } from "../../mcp/mcp-options.ts";
import { NacreError } from "../../support/errors.ts";
import type { Purpose } from "../channel/handshake.ts";
import { cliEndpoint, type RunLine } from "./cli-endpoint.ts";
import type { Endpoint, EndpointDeps } from "./endpoint.ts";
import { type KitPurposeOptions, kitEndpoint } from "./kit-endpoint.ts";
import { mcpEndpoint } from "./mcp-endpoint.ts";
import { uiEndpoint } from "./ui-endpoint.ts";

export function endpointFactory(runLine: RunLine): (purpose: Purpose, deps: EndpointDeps) => Endpoint {
  return (purpose, deps) => {
    switch (purpose?.kind) {
      case "kit":
        return kitEndpoint(purpose.options as KitPurposeOptions, deps);
      case "mcp":
        return mcpEndpoint(purpose.options as unknown as McpOptions, deps);
      case "ui":
        return uiEndpoint(purpose.options, deps);
      case "cli":
        return cliEndpoint(runLine, deps);
      default:
        throw new NacreError("invalid_input", "The client did not say what it wants.");
    }
  };
}
