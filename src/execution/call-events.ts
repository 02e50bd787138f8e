// Tells of every call and of what came of it, whichever tool it was.
import type { Events } from "../support/events.ts";
import type { ToolHook } from "../tool/executor.ts";
import { whoseCall } from "./scope.ts";

export function callEvents(events: Events): ToolHook {
  return {
    before({ tool, arguments: args, context }) {
      events.emit("call", { tool, arguments: args, ...whoseCall(context) });
    },
    after({ tool, context }, { success, code }, { durationMs }) {
      const failure = code === undefined ? {} : { code };
      events.emit("result", { tool, success, ...failure, durationMs, ...whoseCall(context) });
    },
  };
}
