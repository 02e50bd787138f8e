// What a program runs in turn, by its record.

import type { CommandContext, EffectiveCommand, Runner } from "../shell-model/command.ts";
import type { Flow } from "../shell-model/flow.ts";
import { programNamed } from "./programs.ts";
import { runOptions } from "./runs/option-texts.ts";
import { runWrapped } from "./runs/wrapped.ts";

/** null where it runs nothing, or nothing that decides what it prints. */
export function runProgram(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  const record = programNamed(command.program);
  const { options = {} } = record;
  return (
    runWrapped(command, around, runner, record) ??
    record.runs?.(command, around, runner, options) ??
    runOptions(command, around, runner, options)
  );
}
