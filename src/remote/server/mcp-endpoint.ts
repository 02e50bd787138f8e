// An MCP server for one remote client: the same server as over stdio, with the channel as its streams.
import { PassThrough, Writable } from "node:stream";
import { LineSplitter } from "../../mcp/line-splitter.ts";
import type { McpOptions } from "../../mcp/mcp-options.ts";
import { serveStdio } from "../../mcp/serve-stdio.ts";
import { REMOTE_FRAME_MAX_BYTES } from "../../support/limits.ts";
import { parseMessage } from "../channel/rpc-peer.ts";
import type { Endpoint, EndpointDeps } from "./endpoint.ts";

export function mcpEndpoint(options: McpOptions, deps: EndpointDeps): Endpoint {
  const stdin = new PassThrough();
  const splitter = new LineSplitter(REMOTE_FRAME_MAX_BYTES);
  const stdout = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      for (const line of splitter.push(chunk)) {
        const message = typeof line === "string" ? parseMessage(line) : undefined;
        if (message) deps.send(message);
      }
      done();
    },
  });
  const ending = new AbortController();
  const served = serveStdio(
    { ...options, workingDir: deps.cwd },
    {
      stdin,
      stdout,
      stderr: { write: () => {} },
      signal: ending.signal,
    },
  );
  return {
    take: (message) => void stdin.write(`${JSON.stringify(message)}\n`),
    end: async () => {
      ending.abort();
      await served;
    },
  };
}
