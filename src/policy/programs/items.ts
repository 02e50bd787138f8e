// xargs and parallel: a command for every item, where the items come from a pipe or from the command line.

import { POLICY_ALTERNATIVES_MAX_COUNT } from "../../support/limits.ts";
import { shellQuote } from "../../support/shell-quote.ts";
import type { CommandContext, EffectiveCommand, Field, Runner } from "../shell-model/command.ts";
import { type Flow, flowOf, joinOrigins, NO_FLOW } from "../shell-model/flow.ts";
import { UNKNOWN } from "../shell-model/marks.ts";
import { hasFlag, readOptions, valuesOf } from "./argv.ts";

export function runItems(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  if (command.program === "xargs" || command.program === "gxargs") return runXargs(command, around, runner);
  if (command.program === "parallel" || command.program === "env_parallel")
    return runParallel(command, around, runner);
  return null;
}

function runXargs(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  const options = readOptions(command.args, {
    values: "aEILnPsd",
    longValues: ["arg-file", "delimiter", "max-args", "max-procs", "max-lines", "max-chars", "replace"],
    stopAtOperand: true,
  });
  if (command.stdin.origins.includes("endless") && hasFlag(options, "P", "max-procs")) {
    runner.sign("fork-bomb", command.span, "xargs starts processes for input that never ends");
  }
  const [placeholder] = valuesOf(options, "I", "replace");
  const place = placeholder?.text ?? (hasFlag(options, "i", "replace") ? "{}" : null);
  const [file] = valuesOf(options, "a", "arg-file");
  const items = itemsOf(
    file ? (file.flow ?? flowOf(null)) : command.stdin,
    place !== null || hasFlag(options, "0", "null", "d", "delimiter"),
  );
  const [program] = options.operands;
  if (!program) return null;
  const substituted = joinOrigins(around.substituted, command.stdin.origins);
  const around_ = { ...around, via: [...around.via, "xargs"], redirects: [], stdin: NO_FLOW, substituted };
  if (place === null) {
    const added = items.map((text): Field => ({ text, span: program.span }));
    return runner.runArgv([...options.operands, ...added], around_);
  }
  for (const item of items) {
    runner.runArgv(
      options.operands.map((field) => ({ ...field, text: field.text.replaceAll(place, item) })),
      around_,
    );
  }
  return flowOf(null);
}

function itemsOf(stdin: Flow, wholeLines: boolean): readonly string[] {
  if (stdin.text === null) return [UNKNOWN];
  const items = stdin.text.split(wholeLines ? /[\n\0]/ : /[\s\0]/).filter((item) => item !== "");
  const unquoted = items.map((item) => item.replace(/^(['"])(.*)\1$/, "$2"));
  return unquoted.length > POLICY_ALTERNATIVES_MAX_COUNT
    ? [...unquoted.slice(0, POLICY_ALTERNATIVES_MAX_COUNT), UNKNOWN]
    : unquoted;
}

function runParallel(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow {
  const at = command.args.findIndex(({ text }) => /^:::?:?\+?$/.test(text) && text.length >= 3);
  const own = at < 0 ? command.args : command.args.slice(0, at);
  const { operands, flags } = readOptions(own, {
    values: "jNnLIdaCE",
    longValues: ["jobs", "delay", "retries", "timeout", "colsep", "joblog", "arg-file", "block"],
    stopAtOperand: true,
  });
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
  const inside = { ...around, via: [...around.via, "parallel"], redirects: [], stdin: NO_FLOW };
  if (flags.has("pipe") || flags.has("spreadstdin"))
    return runner.runText(template, { ...inside, stdin: command.stdin });
  for (const item of given.slice(0, POLICY_ALTERNATIVES_MAX_COUNT)) {
    const placed = template.replaceAll(/\{[.#%/0-9]*\}/g, () => shellQuote(item));
    // Without a template each item is a command of its own.
    const text =
      template === "" || template === "{}"
        ? item
        : placed === template
          ? `${template} ${shellQuote(item)}`
          : placed;
    runner.runText(text, inside);
  }
  if (command.stdin.origins.includes("endless") && at < 0)
    runner.sign("fork-maybe", command.span, "parallel starts processes for input that never ends");
  if (given.some((item) => item.includes(UNKNOWN)) && /^(|\{\}|(ba|da|z)?sh -c)$/.test(template)) {
    runner.sign("hidden-code", command.span, "parallel runs commands that come from its input");
  }
  return flowOf(null);
}
