// Walks the commands that a program runs, according to its record.

import { isBuiltinName } from "../shell-model/builtin-names.ts";
import type { CommandContext, EffectiveCommand, Runner } from "../shell-model/command.ts";
import type { Flow } from "../shell-model/flow.ts";
import { isKnownProgram, programNamed } from "./programs.ts";
import { isElsewhere, isReader } from "./readers.ts";
import { runLanguage } from "./runs/interpreter-code.ts";
import { runOptions } from "./runs/option-texts.ts";
import { runWrapped } from "./runs/wrapped.ts";

/** The output of the program, or null if the commands that the program runs do not determine its output. */
export function runProgram(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  const record = programNamed(command.program);
  const { options = {} } = record;
  return (
    runWrapped(command, around, runner, record) ??
    record.runs?.(command, around, runner, options) ??
    runOptions(command, around, runner, options) ??
    (isUnfamiliar(command.program) ? runLanguage(command, around, runner, options) : null)
  );
}

/** Whether the policy knows nothing about the program, so that its arguments may be code. */
function isUnfamiliar(name: string): boolean {
  return (
    !isKnownProgram(name) &&
    !isReader(name) &&
    !isElsewhere(name) &&
    !isBuiltinName(name) &&
    Object.keys(programNamed(name)).length === 0
  );
}
