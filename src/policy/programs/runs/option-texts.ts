// Options that make an otherwise harmless program run another program. The policy judges the value of such an option
// as shell text.

import type { CommandContext, EffectiveCommand, Field, Runner } from "../../shell-model/command.ts";
import { inSameProcess } from "../../shell-model/nested-context.ts";
import type { RunsCommand } from "../program-record.ts";
import { readOptions, valuesOf } from "../read-options.ts";

/** Walks the values of the options in `runs` and `starts`. */
export const runOptions: RunsCommand = (command, around, runner, table) => {
  const { runs, starts } = table;
  if (runs === undefined && starts === undefined) return null;
  const options = readOptions(command.args, table);
  if (runs !== undefined) runOptionTexts(valuesOf(options, runs), command, around, runner);
  if (starts !== undefined) runTexts(valuesOf(options, starts), command, around, runner);
  return null;
};

/** Walks the texts, and reports each one that is not a usual value. */
export function runOptionTexts(
  texts: readonly Field[],
  command: EffectiveCommand,
  around: CommandContext,
  runner: Runner,
): void {
  const unusual = withoutUsual(texts);
  for (const { span } of unusual)
    runner.sign("runs-program", span, `an option of ${command.program} runs a program`);
  runTexts(unusual, command, around, runner);
}

function runTexts(
  texts: readonly Field[],
  { program }: EffectiveCommand,
  around: CommandContext,
  runner: Runner,
): void {
  const inside = inSameProcess(around, program);
  for (const { text, span } of texts) runner.runText(text, { ...inside, span });
}

/** Usual values: a compressor or a remote shell. */
const EXPECTED =
  /^(gzip|pigz|bzip2|pbzip2|xz|zstd|lz4|zstdmt|ssh|cat|gunzip|brotli)( -[\w=]+( ?[\w./~=:@\uFDD0-\uFDD4-]+)?)*$/;
/** Checkpoint actions of tar that run no program. */
const CHECKPOINT = /^(dot|echo|bell|ttyout|sleep|totals|wait)(=|$)/;

function withoutUsual(texts: readonly Field[]): readonly Field[] {
  return texts
    .map((field) => ({ ...field, text: field.text.replace(/^exec=/, "") }))
    .filter(({ text }) => !EXPECTED.test(text) && !CHECKPOINT.test(text));
}
