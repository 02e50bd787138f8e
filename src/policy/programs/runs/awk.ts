// awk programs: calls of system(), pipes to and from commands, and files that they write.

import type { CommandContext, Runner } from "../../shell-model/command.ts";
import { decodeEscapes } from "../../shell-model/decode-text.ts";
import { flowOf } from "../../shell-model/flow.ts";
import { isUnresolved } from "../../shell-model/marks.ts";
import { inSeparateProcess } from "../../shell-model/nested-context.ts";
import type { RunsCommand } from "../program-record.ts";
import { hasFlag, readOptions, valuesOf } from "../read-options.ts";
import { writeFile } from "./sed.ts";

export const runAwk: RunsCommand = (command, around, runner, table) => {
  const options = readOptions(command.args, table, "at-operand");
  const sources = valuesOf(options, "-e source");
  const isElsewhere = sources.length > 0 || hasFlag(options, "-f file");
  const inside = { ...inSeparateProcess(around, command.program), assignments: [] };
  for (const { text, span } of isElsewhere ? sources : options.operands.slice(0, 1))
    scanProgram(text, { ...inside, span }, runner);
  return flowOf(null, command.stdin.origins);
};

function scanProgram(text: string, here: CommandContext, runner: Runner): void {
  const { span } = here;
  if (isUnresolved(text) && text.length < 3)
    runner.sign("hidden-code", span, "awk runs code that is built at run time");
  const textsOf = (pattern: RegExp) =>
    [...text.matchAll(pattern)].map(([, shell = ""]) => decodeEscapes(shell));
  const called = textsOf(SYSTEM);
  // A vertical bar in a string or a regular expression is not a pipe.
  const masked = text.replace(ANY_STRING, (string) => string.replaceAll("|", "\u0001"));
  const piped = [...masked.matchAll(PIPE_TO)].map(([, shell = ""]) =>
    decodeEscapes(shell.replaceAll("\u0001", "|")),
  );
  if ([...called, ...piped].some((shell) => !FILTERS.test(shell)))
    runner.sign("runs-program", span, "awk runs a command");
  for (const shell of called) runner.runText(shell, here);
  for (const shell of piped) runner.runText(shell, { ...here, stdin: flowOf(null) });
  for (const shell of textsOf(PIPE_FROM)) runner.runText(shell, here);
  for (const [, path = ""] of text.matchAll(WRITES)) writeFile(path, here, runner);
  if (/\/inet[46]?\/(tcp|udp)\//.test(text) && /getline/.test(text))
    runner.sign("reverse-shell", span, "awk connects to another machine");
  if (DYNAMIC.test(masked.replace(SYSTEM, " ")))
    runner.sign("hidden-code", span, "awk builds and runs commands");
}

const FILTERS = /^(sort|uniq|wc|head|tail|cat|column|tr|cut|tee|less)\b[^;&|`$]*$/;
const STRING = String.raw`"((?:[^"\\]|\\.){0,1000})"`;
const ANY_STRING = /"(?:[^"\\]|\\.){0,1000}"/gs;
const SYSTEM = new RegExp(String.raw`\bsystem\s*\(\s*${STRING}\s*\)`, "gs");
const PIPE_TO = new RegExp(String.raw`\|&?\s*${STRING}`, "gs");
const PIPE_FROM = new RegExp(String.raw`${STRING}\s*\|&?\s*getline`, "gs");
const WRITES = new RegExp(String.raw`\bprintf?\b[^;{}|]{0,200}>{1,2}\s*${STRING}`, "gs");
const DYNAMIC = /\bsystem\s*\(|\|\s*getline|\bprintf?\b[^;{}"|]{0,200}\|\s*[A-Za-z_$]/;
