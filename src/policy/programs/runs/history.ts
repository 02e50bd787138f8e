// The file that `history` reads or writes.

import type { EffectiveCommand, Field } from "../../shell-model/command.ts";
import { inSameProcess } from "../../shell-model/nested-context.ts";
import { effectsOn, type RawEffect } from "../effect.ts";
import type { RunsCommand } from "../program-record.ts";
import { hasFlag, type Options, readOptions } from "../read-options.ts";

/** The effects of `-w FILE` and `-a FILE`, which write the history, and of `-r FILE` and `-n FILE`, which read it. */
export function historyFile(options: Options): readonly RawEffect[] {
  const file = options.operands.slice(0, 1);
  if (hasFlag(options, "-sp")) return [];
  if (hasFlag(options, "-w")) return effectsOn(file, "write");
  if (hasFlag(options, "-a")) return effectsOn(file, "append");
  return hasFlag(options, "-rn") ? effectsOn(file, "read") : [];
}

/**
 * Without an operand, `history -w` uses the file that HISTFILE names. So judge the command with that file as an
 * operand.
 */
export const runHistory: RunsCommand = (command, around, runner, table) => {
  const options = readOptions(command.args, table);
  const [last] = command.args.slice(-1);
  if (!last || options.operands.length > 0 || !hasFlag(options, "-warn")) return null;
  for (const text of historyFiles(command, around.scope.variable("HISTFILE")?.values, runner.where.home)) {
    const file: Field = { ...last, text };
    runner.runArgv(
      [{ ...last, text: command.called }, ...command.args, file],
      inSameProcess(around, "history"),
    );
  }
  return null;
};

function historyFiles(
  { assignments }: EffectiveCommand,
  assigned: readonly string[] | undefined,
  home: string,
): readonly string[] {
  const given = assignments.filter(({ name }) => name === "HISTFILE").map(({ value }) => value);
  const files = given.length > 0 ? given : (assigned ?? [`${home}/.bash_history`]);
  return files.filter((file) => file !== "");
}
