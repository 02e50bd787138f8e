// Agents that a runtime starts by a file of their package, or by a module: the same as a call by their name.

import type { CommandContext, EffectiveCommand, Field, Runner } from "../shell-model/command.ts";
import type { Flow } from "../shell-model/flow.ts";
import { AGENTS, PACKAGE_PROGRAMS } from "./agent-table.ts";
import { readOptions } from "./argv.ts";
import { packageOf } from "./package-name.ts";

/** Runs the agent that a script or module stands for; null for any other script. */
export function runStarted(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  const [started, ...rest] = startedBy(command);
  const program = started ? agentOf(started.text) : null;
  if (!started || program === null) return null;
  const inside = { ...around, via: [...around.via, command.program], redirects: [] };
  return runner.runArgv([{ ...started, text: program }, ...rest], inside);
}

const NODE = { values: "rC", longValues: ["require", "import", "env-file", "loader"], stopAtOperand: true };
const PYTHON = { values: "cWX", stopAtOperand: true };

/** The script or module, and what follows it. */
function startedBy({ program, args }: EffectiveCommand): readonly Field[] {
  if (/^(node|nodejs|bun|deno|tsx|ts-node)$/.test(program)) {
    const { operands } = readOptions(args, NODE);
    const hasVerb = /^(run|x)$/.test(operands[0]?.text ?? "");
    return hasVerb ? readOptions(operands.slice(1), NODE).operands : operands;
  }
  if (!/^(python|pypy)[\d.]*$/.test(program)) return [];
  const at = args.findIndex(({ text }) => text === "-m");
  if (at >= 0) return args.slice(at + 1);
  return readOptions(args, PYTHON).operands;
}

/** The agent that a package or module is; null for anything else. */
function agentOf(text: string): string | null {
  const name = packageOf(text) ?? "";
  const program = Object.hasOwn(PACKAGE_PROGRAMS, name) ? PACKAGE_PROGRAMS[name] : name;
  return program !== undefined && Object.hasOwn(AGENTS, program) ? program : null;
}
