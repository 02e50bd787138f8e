// Prepares the toolkit shortly after the server starts. The delay lets the server first answer initialize and
// tools/list.
import { messageOf } from "../support/errors.ts";
import { MCP_PREPARE_AFTER_MS } from "../support/limits.ts";
import type { Toolkit } from "../toolkit.ts";

/** Returns a function that cancels the preparation. */
export function prepareSoon(kit: Toolkit, stderr: { write(text: string): unknown }): () => void {
  let stopped = false;
  const prepare = () =>
    kit.ready().catch((error) => {
      // A call reports the same error to the model. This message is for the operator.
      if (!stopped) stderr.write(`nacre mcp: ${messageOf(error)}\n`);
    });
  const timer = setTimeout(prepare, MCP_PREPARE_AFTER_MS);
  timer.unref();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
