// xargs and parallel, which run a command for each item from a pipe or from the command line.

import { POLICY_ALTERNATIVES_MAX_COUNT } from "../../../support/limits.ts";
import { shellQuote } from "../../../support/shell-quote.ts";
import type { Field } from "../../shell-model/command.ts";
import { type Flow, flowOf, joinOrigins } from "../../shell-model/flow.ts";
import { UNKNOWN } from "../../shell-model/marks.ts";
import { inSameProcess } from "../../shell-model/nested-context.ts";
import type { RunsCommand } from "../program-record.ts";
import { hasFlag, readOptions, valuesOf } from "../read-options.ts";

export const runXargs: RunsCommand = (command, around, runner, table) => {
  const options = readOptions(command.args, table, "at-operand");
  if (command.stdin.origins.includes("endless") && hasFlag(options, "-P max-procs")) {
    runner.sign("fork-bomb", command.span, "xargs starts processes for endless input");
  }
  const [placeholder] = valuesOf(options, "-I replace");
  const place = placeholder?.text ?? (hasFlag(options, "-i replace") ? "{}" : null);
  const [file] = valuesOf(options, "-a arg-file");
  const items = itemsOf(
    file ? (file.flow ?? flowOf(null)) : command.stdin,
    place !== null || hasFlag(options, "-0d null delimiter"),
  );
  const [program] = options.operands;
  if (!program) return null;
  const substituted = joinOrigins(around.substituted, command.stdin.origins);
  const inside = { ...inSameProcess(around, "xargs"), substituted };
  if (place === null) {
    const added = items.map((text): Field => ({ text, span: program.span }));
    return runner.runArgv([...options.operands, ...added], inside);
  }
  for (const item of items) {
    runner.runArgv(
      options.operands.map((field) => ({ ...field, text: field.text.replaceAll(place, item) })),
      inside,
    );
  }
  return flowOf(null);
};

function itemsOf(stdin: Flow, wholeLines: boolean): readonly string[] {
  if (stdin.text === null) return [UNKNOWN];
  const items = stdin.text.split(wholeLines ? /[\n\0]/ : /[\s\0]/).filter((item) => item !== "");
  const unquoted = items.map((item) => item.replace(/^(['"])(.*)\1$/, "$2"));
  return unquoted.length > POLICY_ALTERNATIVES_MAX_COUNT
    ? [...unquoted.slice(0, POLICY_ALTERNATIVES_MAX_COUNT), UNKNOWN]
    : unquoted;
}

export const runParallel: RunsCommand = (command, around, runner, table) => {
  const at = command.args.findIndex(({ text }) => /^:::?:?\+?$/.test(text) && text.length >= 3);
  const own = at < 0 ? command.args : command.args.slice(0, at);
  const { operands, flags } = readOptions(own, table, "at-operand");
  const inFile = flags.has("a") || flags.has("arg-file") || command.args[at]?.text.startsWith("::::");
  const given = inFile
    ? [UNKNOWN]
    : at < 0
      ? itemsOf(command.stdin, true)
      : command.args
          .slice(at + 1)
          .map(({ text }) => text)
          .filter((text) => !text.startsWith(":::"));
  const template = operands.map(({ text }) => text).join(" ");
  const inside = inSameProcess(around, "parallel");
  if (flags.has("pipe") || flags.has("spreadstdin"))
    return runner.runText(template, { ...inside, stdin: command.stdin });
  for (const item of given.slice(0, POLICY_ALTERNATIVES_MAX_COUNT)) {
    const placed = template.replaceAll(/\{[.#%/0-9]*\}/g, () => shellQuote(item));
    // Without a command as a template, each item is itself a command.
    const text =
      template === "" || template === "{}"
        ? item
        : placed === template
          ? `${template} ${shellQuote(item)}`
          : placed;
    runner.runText(text, inside);
  }
  if (command.stdin.origins.includes("endless") && at < 0)
    runner.sign("fork-maybe", command.span, "parallel starts processes for endless input");
  if (given.some((item) => item.includes(UNKNOWN)) && /^(|\{\}|(ba|da|z)?sh -c)$/.test(template)) {
    runner.sign("hidden-code", command.span, "parallel runs commands from its input");
  }
  return flowOf(null);
};
