// ssh: the options that run something here, and the command that runs there; kubectl exec, which runs one in a pod.

import type { CommandContext, EffectiveCommand, Runner } from "../shell-model/command.ts";
import { type Flow, flowOf, NO_FLOW } from "../shell-model/flow.ts";
import { UNKNOWN } from "../shell-model/marks.ts";
import { readOptions, valuesOf } from "./argv.ts";

export function runRemote(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  if (/^(kubectl|oc)$/.test(command.program)) return runInPod(command, around, runner);
  if (!/^(ssh|autossh|mosh|slogin)$/.test(command.program)) return null;
  const options = readOptions(command.args, { values: "BbcDEeFIiJLlmOopQRSWw", stopAtOperand: true });
  const inside = { ...around, via: [...around.via, "ssh"], redirects: [], stdin: NO_FLOW };
  for (const { text, span } of valuesOf(options, "o")) {
    const [, shell] = /^(?:Proxy|Local|KnownHosts|Permit)\w*Command[\s=]+(.+)$/i.exec(text) ?? [];
    if (shell === undefined || shell === "none") continue;
    runner.sign("runs-program", span, "ssh runs a command on this machine first");
    runner.runText(shell, { ...inside, span });
  }
  const there = options.operands.slice(1);
  const [first] = there;
  if (!first) return flowOf(null);
  const scope = around.scope.fork();
  scope.move(() => UNKNOWN);
  runner.runText(there.map(({ text }) => text).join(" "), {
    ...inside,
    scope,
    stdin: around.stdin,
    span: first.span,
  });
  return flowOf(null);
}

function runInPod(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  const at = command.args.findIndex(({ text }) => text === "--");
  const [first, ...rest] = at < 0 ? [] : command.args.slice(at + 1);
  if (!first || !command.args.some(({ text }) => text === "exec")) return null;
  const scope = around.scope.fork();
  scope.move(() => UNKNOWN);
  const via = [...around.via, command.program];
  runner.runArgv([first, ...rest], { ...around, scope, via, redirects: [], stdin: NO_FLOW });
  return flowOf(null);
}
