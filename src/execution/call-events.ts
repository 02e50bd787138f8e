// Emits the events `call` and `result` for every call of any tool.
import { defined } from "../support/defined.ts";
import type { Events } from "../support/events.ts";
import type { ToolHook } from "../tool/executor.ts";
import { callOrigin } from "./scope.ts";

export function callEvents(events: Events): ToolHook {
  return {
    before({ tool, arguments: args, context }) {
      events.emit("call", { tool, arguments: args, ...callOrigin(context) });
    },
    after({ tool, context }, { success, code }, { durationMs }) {
      events.emit("result", { tool, success, ...defined({ code }), durationMs, ...callOrigin(context) });
    },
  };
}
