// Agents that a runtime starts through a file of their package or as a module. The policy judges such a start like a
// call of the agent by name.

import type { CommandContext, EffectiveCommand, Field, Runner } from "../../shell-model/command.ts";
import type { Flow } from "../../shell-model/flow.ts";
import { PACKAGE_PROGRAMS } from "../agents.ts";
import { PYTHON_OPTIONS } from "../interpreters.ts";
import { programNamed } from "../programs.ts";
import { readOptions } from "../read-options.ts";
import { RUNTIMES, scriptArguments } from "./nacre-arguments.ts";
import { packageOf } from "./package-name.ts";

/** Walks the agent that a script or module belongs to. Returns null for any other script. */
export function runStarted(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  const [started, ...rest] = startedBy(command);
  const program = started ? agentOf(started.text) : null;
  if (!started || program === null) return null;
  const inside = { ...around, via: [...around.via, command.program], redirects: [] };
  return runner.runArgv([{ ...started, text: program }, ...rest], inside);
}

/** The script or module, with its arguments. */
function startedBy(command: EffectiveCommand): readonly Field[] {
  const { program, args } = command;
  if (RUNTIMES.has(program)) return scriptArguments(command);
  if (!/^(python|pypy)[\d.]*$/.test(program)) return [];
  const at = args.findIndex(({ text }) => text === "-m");
  return at >= 0 ? args.slice(at + 1) : readOptions(args, PYTHON_OPTIONS, "at-operand").operands;
}

/** The name of the agent that the package or module contains, or null. */
function agentOf(text: string): string | null {
  const name = packageOf(text) ?? "";
  const program = Object.hasOwn(PACKAGE_PROGRAMS, name) ? PACKAGE_PROGRAMS[name] : name;
  return program !== undefined && programNamed(program).agent ? program : null;
}
