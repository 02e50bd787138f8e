// Texts that another program runs, perhaps later: at, cron tables, recipes of a makefile from stdin.

import { changeDirectory } from "../../paths/paths.ts";
import { flowOf } from "../../shell-model/flow.ts";
import { UNKNOWN } from "../../shell-model/marks.ts";
import { apartFrom } from "../../shell-model/nested-context.ts";
import type { RunsCommand } from "../program-record.ts";
import { readOptions, valuesOf } from "../read-options.ts";

export const runAt: RunsCommand = (command, around, runner, table) => {
  const inside = apartFrom(around, command.program);
  const { stdin } = command;
  const [cwd = UNKNOWN] = around.scope.cwds;
  const files = valuesOf(readOptions(command.args, table), "-f");
  const read = files.map(({ text, flow }) => flow ?? around.scope.files.get(changeDirectory(text, cwd)));
  for (const flow of stdin.connected ? [stdin, ...read] : read) {
    if (flow && flow.text !== null) runner.runText(flow.text, inside);
  }
  return flowOf("");
};

export const runCrontab: RunsCommand = (command, around, runner) => {
  const inside = apartFrom(around, command.program);
  for (const line of command.stdin.text?.split("\n") ?? []) {
    const [, scheduled] = /^\s*(?:@\w+|(?:\S+\s+){5})\s*([^#\s].*)$/.exec(line) ?? [];
    if (scheduled !== undefined) runner.runText(scheduled, inside);
  }
  return flowOf(null);
};

export const runMake: RunsCommand = (command, around, runner, table) => {
  const inside = apartFrom(around, command.program);
  const options = readOptions(command.args, table);
  for (const { text, span } of command.args) {
    const [, shell] = /^\.?SHELL(?:FLAGS)?=(.+)$/.exec(text) ?? [];
    if (shell === undefined || /^(\/usr)?\/bin\/(ba|da|z)?sh$/.test(shell)) continue;
    runner.sign("runs-program", span, "make runs its recipes with another program");
  }
  const reads = valuesOf(options, "-f file makefile").some(({ text }) => /^(-|\/dev\/stdin)$/.test(text));
  const texts = valuesOf(options, "eval").map(({ text }) => text);
  if (reads && command.stdin.text !== null) texts.push(command.stdin.text);
  for (const text of texts) {
    for (const [, recipe = "", inline = ""] of text.matchAll(RECIPES))
      runner.runText(recipe || inline, inside);
    for (const [, shell = ""] of text.matchAll(/\$\(shell ([^)\n]+)\)/g)) runner.runText(shell, inside);
  }
  if (reads && command.stdin.text === null)
    runner.sign("hidden-code", command.span, "make reads its rules from a pipe");
  return flowOf(null);
};

const RECIPES = /(?:^|\n)\t[@-]?([^\n]+)|:[^\n;=]*;\s*[@-]?([^\n]+)/g;
