// Gets the toolkit ready once the client has said hello and asked for the tools: it waits for that at every start.
import { messageOf } from "../support/errors.ts";
import { MCP_PREPARE_AFTER_MS } from "../support/limits.ts";
import type { Toolkit } from "../toolkit.ts";

/** Returns how to stop. */
export function prepareSoon(kit: Toolkit, stderr: { write(text: string): unknown }): () => void {
  let stopped = false;
  const prepare = () =>
    kit.ready().catch((error) => {
      // Calls say the same to the model; this is for the person.
      if (!stopped) stderr.write(`nacre mcp: ${messageOf(error)}\n`);
    });
  const timer = setTimeout(prepare, MCP_PREPARE_AFTER_MS);
  timer.unref();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
