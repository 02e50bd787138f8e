// Commands that run on another machine through ssh, or in a pod. Options of ssh can also run commands on this machine.

import type { CommandContext, Field } from "../../shell-model/command.ts";
import { flowOf } from "../../shell-model/flow.ts";
import { UNKNOWN } from "../../shell-model/marks.ts";
import { inSameProcess, inSeparateProcess } from "../../shell-model/nested-context.ts";
import type { RunsCommand } from "../program-record.ts";
import { readOptions, valuesOf } from "../read-options.ts";

export const runSsh: RunsCommand = (command, around, runner, table) => {
  const options = readOptions(command.args, table, "at-operand");
  for (const { text, span } of valuesOf(options, "-o")) {
    const [, shell] = /^(?:Proxy|Local|KnownHosts|Permit)\w*Command[\s=]+(.+)$/i.exec(text) ?? [];
    if (shell === undefined || shell === "none") continue;
    runner.sign("runs-program", span, "ssh runs a command on this machine first");
    runner.runText(shell, { ...inSameProcess(around, "ssh"), span });
  }
  const there = options.operands.slice(1);
  const [first] = there;
  if (!first) return flowOf(null);
  const text = there.map((field) => field.text).join(" ");
  runner.runText(text, { ...elsewhere(around, "ssh"), stdin: around.stdin, span: first.span });
  return flowOf(null);
};

/** Walks the inner command of `kubectl exec pod -- command`. */
export const runInPod: RunsCommand = (command, around, runner) => {
  const at = command.args.findIndex(({ text }) => text === "--");
  const inner: readonly Field[] = at < 0 ? [] : command.args.slice(at + 1);
  if (inner.length === 0 || !command.args.some(({ text }) => text === "exec")) return null;
  runner.runArgv(inner, elsewhere(around, command.program));
  return flowOf(null);
};

/** The context on another machine, in an unknown directory. */
function elsewhere(around: CommandContext, via: string): CommandContext {
  const inside = inSeparateProcess(around, via);
  inside.scope.move(() => UNKNOWN);
  return inside;
}
