// awk programs: system(), pipes to and from commands, files they write.

import type { CommandContext, EffectiveCommand, Runner } from "../shell-model/command.ts";
import { decodeEscapes } from "../shell-model/decode-text.ts";
import { type Flow, flowOf } from "../shell-model/flow.ts";
import { isUnresolved } from "../shell-model/marks.ts";
import { readOptions, valuesOf } from "./argv.ts";

export function scanAwk(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow {
  const options = readOptions(command.args, {
    values: "Fvfei",
    longValues: ["file", "source", "assign", "include"],
    stopAtOperand: true,
  });
  const sources = valuesOf(options, "e", "source");
  const programs =
    sources.length > 0 || options.flags.has("f") || options.flags.has("file")
      ? sources
      : options.operands.slice(0, 1);
  for (const { text, span } of programs) scanProgram(text, { ...around, span }, runner);
  return flowOf(null, command.stdin.origins);
}

function scanProgram(text: string, here: CommandContext, runner: Runner): void {
  const { span } = here;
  if (isUnresolved(text) && text.length < 3)
    runner.sign("hidden-code", span, "awk runs a program that is made at run time");
  const called = [...text.matchAll(SYSTEM)].map(([, shell = ""]) => decodeEscapes(shell));
  const piped = [...text.matchAll(PIPE_TO)].map(([, shell = ""]) => decodeEscapes(shell));
  if ([...called, ...piped].some((shell) => !FILTERS.test(shell)))
    runner.sign("runs-program", span, "awk runs a command");
  for (const shell of called) runner.runText(shell, here);
  for (const shell of piped) runner.runText(shell, { ...here, stdin: flowOf(null) });
  for (const [, shell = ""] of text.matchAll(PIPE_FROM)) runner.runText(decodeEscapes(shell), here);
  for (const [, path = ""] of text.matchAll(WRITES))
    runner.runArgv(
      [
        { text: "tee", span },
        { text: path, span },
      ],
      here,
    );
  if (/\/inet[46]?\/(tcp|udp)\//.test(text) && /getline/.test(text))
    runner.sign("reverse-shell", span, "awk talks to another machine");
  if (DYNAMIC.test(text.replace(SYSTEM, " ")))
    runner.sign("hidden-code", span, "awk runs commands that it puts together itself");
}

const FILTERS = /^(sort|uniq|wc|head|tail|cat|column|tr|cut|tee|less)\b[^;&|`$]*$/;
const STRING = String.raw`"((?:[^"\\]|\\.){0,1000})"`;
const SYSTEM = new RegExp(String.raw`\bsystem\s*\(\s*${STRING}\s*\)`, "gs");
const PIPE_TO = new RegExp(String.raw`\|&?\s*${STRING}`, "gs");
const PIPE_FROM = new RegExp(String.raw`${STRING}\s*\|&?\s*getline`, "gs");
const WRITES = new RegExp(String.raw`\bprintf?\b[^;{}|]{0,200}>{1,2}\s*${STRING}`, "gs");
const DYNAMIC = /\bsystem\s*\(|\|\s*getline|\bprintf?\b[^;{}"|]{0,200}\|\s*[A-Za-z_$]/;
