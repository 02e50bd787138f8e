// Texts that something else runs later: at, cron tables, recipes of a makefile from stdin.

import { changeDirectory } from "../paths/paths.ts";
import type { CommandContext, EffectiveCommand, Runner } from "../shell-model/command.ts";
import { type Flow, flowOf, NO_FLOW } from "../shell-model/flow.ts";
import { UNKNOWN } from "../shell-model/marks.ts";
import { readOptions, valuesOf } from "./argv.ts";

export function runDeferred(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  if (!/^(at|batch|crontab|g?make)$/.test(command.program)) return null;
  const inside = elsewhere(command, around);
  const { text } = command.stdin;
  switch (command.program) {
    case "at":
    case "batch":
      if (text !== null && command.stdin.connected) runner.runText(text, inside);
      for (const file of valuesOf(readOptions(command.args, { values: "fqt" }), "f")) {
        const flow = file.flow ?? fileNamed(file.text, around);
        if (flow && flow.text !== null) runner.runText(flow.text, inside);
      }
      return flowOf("");
    case "crontab":
      for (const line of text?.split("\n") ?? []) {
        const [, scheduled] = /^\s*(?:@\w+|(?:\S+\s+){5})\s*([^#\s].*)$/.exec(line) ?? [];
        if (scheduled !== undefined) runner.runText(scheduled, inside);
      }
      return flowOf(null);
    case "make":
    case "gmake":
      return runMake(command, inside, runner);
    default:
      return null;
  }
}

/** Where such a text runs: in a shell that shares neither variables nor input with this one. */
export function elsewhere({ program }: EffectiveCommand, around: CommandContext): CommandContext {
  return {
    ...around,
    scope: around.scope.fork(),
    via: [...around.via, program],
    redirects: [],
    stdin: NO_FLOW,
  };
}

function fileNamed(text: string, { scope }: CommandContext): Flow | undefined {
  return scope.files.get(changeDirectory(text, scope.cwds[0] ?? UNKNOWN));
}

function runMake(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow {
  const options = readOptions(command.args, {
    values: "fCIojlW",
    longValues: ["file", "makefile", "eval", "directory"],
  });
  for (const { text, span } of command.args) {
    const [, shell] = /^\.?SHELL(?:FLAGS)?=(.+)$/.exec(text) ?? [];
    if (shell === undefined || /^(\/usr)?\/bin\/(ba|da|z)?sh$/.test(shell)) continue;
    runner.sign("runs-program", span, "make runs its recipes with another program");
  }
  const reads = valuesOf(options, "f", "file", "makefile").some(
    ({ text }) => text === "-" || text === "/dev/stdin",
  );
  const texts = valuesOf(options, "eval").map(({ text }) => text);
  if (reads && command.stdin.text !== null) texts.push(command.stdin.text);
  for (const text of texts) {
    for (const [, recipe = "", inline = ""] of text.matchAll(
      /(?:^|\n)\t[@-]?([^\n]+)|:[^\n;=]*;\s*[@-]?([^\n]+)/g,
    ))
      runner.runText(recipe || inline, around);
    for (const [, shell = ""] of text.matchAll(/\$\(shell ([^)\n]+)\)/g)) runner.runText(shell, around);
  }
  if (reads && command.stdin.text === null)
    runner.sign("hidden-code", command.span, "make reads its rules from a pipe");
  return flowOf(null);
}
