// Texts that another program runs, now or later: jobs of at, cron tables, a makefile on stdin.

import { changeDirectory } from "../../paths/paths.ts";
import { flowOf } from "../../shell-model/flow.ts";
import { UNKNOWN } from "../../shell-model/marks.ts";
import { inSeparateProcess } from "../../shell-model/nested-context.ts";
import type { RunsCommand } from "../program-record.ts";
import { readOptions, valuesOf } from "../read-options.ts";

export const runAt: RunsCommand = (command, around, runner, table) => {
  const inside = inSeparateProcess(around, command.program);
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
  const inside = inSeparateProcess(around, command.program);
  for (const line of command.stdin.text?.split("\n") ?? []) {
    const [, scheduled] = /^\s*(?:@\w+|(?:\S+\s+){5})\s*([^#\s].*)$/.exec(line) ?? [];
    if (scheduled !== undefined) runner.runText(scheduled, inside);
  }
  return flowOf(null);
};

export const runMake: RunsCommand = (command, around, runner, table) => {
  const inside = inSeparateProcess(around, command.program);
  const options = readOptions(command.args, table);
  for (const { text, span } of command.args) {
    const [, shell] = /^\.?SHELL(?:FLAGS)?=(.+)$/.exec(text) ?? [];
    if (shell === undefined || /^(\/usr)?\/bin\/(ba|da|z)?sh$/.test(shell)) continue;
    runner.sign("runs-program", span, "make runs its recipes with another shell");
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

/** Package scripts that the command adds: `npm pkg set scripts.test="…"`, `npm set-script test "…"`. */
export const runNewScripts: RunsCommand = (command, around, runner) => {
  const [verb, , text] = command.args;
  const set = command.args.flatMap((arg) => {
    const [, script] = /^scripts\.[^=]+=([\s\S]+)$/.exec(arg.text) ?? [];
    return script === undefined ? [] : [{ ...arg, text: script }];
  });
  for (const script of verb?.text === "set-script" && text ? [text] : set)
    runner.runText(script.text, { ...inSeparateProcess(around, command.program), span: script.span });
  return null;
};

/** The commands of `cmake -E`, and the equivalent programs. */
const CMAKE_TOOLS: Readonly<Record<string, readonly string[]>> = {
  rm: ["rm"],
  remove: ["rm", "-f"],
  remove_directory: ["rm", "-rf"],
  copy: ["cp"],
  copy_if_different: ["cp"],
  copy_directory: ["cp", "-r"],
  rename: ["mv"],
  touch: ["touch"],
  make_directory: ["mkdir", "-p"],
  create_symlink: ["ln", "-s"],
  create_hardlink: ["ln"],
  env: ["env"],
  time: ["time"],
  tar: ["tar"],
  cat: ["cat"],
};

export const runCmakeTool: RunsCommand = (command, around, runner) => {
  const [flag, tool, ...rest] = command.args;
  const argv =
    flag?.text === "-E" && tool && Object.hasOwn(CMAKE_TOOLS, tool.text) ? CMAKE_TOOLS[tool.text] : undefined;
  if (!argv || !tool) return null;
  return runner.runArgv(
    [...argv.map((text) => ({ text, span: tool.span })), ...rest],
    inSeparateProcess(around, "cmake"),
  );
};
