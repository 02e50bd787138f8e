// ssh: the options that run something here, and the command that runs there.

import { readOptions, valuesOf } from "./argv.ts";
import type { EffectiveCommand, Runner, Surroundings } from "./command.ts";
import { type Flow, flowOf, NO_FLOW } from "./flow.ts";
import { UNKNOWN } from "./marks.ts";

export function runRemote(command: EffectiveCommand, around: Surroundings, runner: Runner): Flow | null {
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
