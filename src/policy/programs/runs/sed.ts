// The commands of a sed script that run programs or write files: e, w, W, and the e flag of s.

import type { CommandContext, Runner } from "../../shell-model/command.ts";
import { flowOf } from "../../shell-model/flow.ts";
import { inSameProcess } from "../../shell-model/nested-context.ts";
import type { RunsCommand } from "../program-record.ts";
import { readOptions, valuesOf } from "../read-options.ts";

export const runSed: RunsCommand = (command, around, runner, table) => {
  const options = readOptions(command.args, table);
  const expressions = valuesOf(options, "-e expression");
  const scripts =
    expressions.length > 0 || options.flags.has("f") ? expressions : options.operands.slice(0, 1);
  for (const { text, span } of scripts) {
    const inside = { ...inSameProcess(around, command.program), span };
    const { runs, executes, writes } = sedActions(text);
    if (executes) runner.sign("runs-program", span, "sed runs a command from its script or its input");
    for (const shell of runs) runner.runText(shell, inside);
    for (const path of writes) writeFile(path, inside, runner);
  }
  return flowOf(null, command.stdin.origins);
};

/** Judges a file that the script writes as if tee wrote it. */
export function writeFile(path: string, inside: CommandContext, runner: Runner): void {
  const argv = ["tee", path].map((text) => ({ text, span: inside.span }));
  runner.runArgv(argv, inside);
}

function sedActions(script: string): Collected {
  const actions: Collected = { executes: false, runs: [], writes: [] };
  let at = 0;
  while (at < script.length) {
    at = afterAddress(script, at);
    const command = script[at] ?? "";
    at =
      command === "s" || command === "y"
        ? readSubstitution(script, at, actions)
        : readCommand(script, at, actions);
  }
  return actions;
}

interface Collected {
  executes: boolean;
  /** Shell texts after the command `e`. */
  readonly runs: string[];
  readonly writes: string[];
}

function readSubstitution(script: string, at: number, actions: Collected): number {
  const { flags, replacement, end } = substitution(script, at + 1);
  if (script[at] === "s" && /^\w*e/.test(flags)) {
    actions.executes = true;
    actions.runs.push(replacement.replace(/\\(.)/g, "$1"));
  }
  const written = /w\s*(\S[^\n]*)/.exec(flags)?.[1];
  if (written !== undefined) actions.writes.push(written);
  return end;
}

function readCommand(script: string, at: number, actions: Collected): number {
  const command = script[at] ?? "";
  const rest = restOfLine(script, at + 1);
  if (command === "e") {
    actions.executes = true;
    if (rest.trim() !== "") actions.runs.push(rest.trim());
  }
  if (command === "w" || command === "W") actions.writes.push(rest.trim());
  return /[eaicrRwW]/.test(command) ? at + 1 + rest.length : nextCommand(script, at + 1);
}

/** Skips separators and an address: numbers, `$`, `/regex/`, ranges. */
function afterAddress(script: string, start: number): number {
  let at = start;
  while (at < script.length) {
    const char = script[at] ?? "";
    if (/[\s;{}\d$,~+!I]/.test(char)) at += 1;
    else if (char === "/") at = afterDelimited(script, at + 1, "/");
    else if (char === "\\") at = afterDelimited(script, at + 2, script[at + 1] ?? "");
    else break;
  }
  return at;
}

function afterDelimited(script: string, start: number, delimiter: string): number {
  for (let at = start; at < script.length; at++) {
    if (script[at] === "\\") at += 1;
    else if (script[at] === delimiter) return at + 1;
  }
  return script.length;
}

function substitution(
  script: string,
  start: number,
): { readonly flags: string; readonly replacement: string; readonly end: number } {
  const delimiter = script[start] ?? "";
  const second = afterDelimited(script, start + 1, delimiter);
  const third = afterDelimited(script, second, delimiter);
  const flags = /^[^;}\n]*/.exec(script.slice(third))?.[0] ?? "";
  return { flags, replacement: script.slice(second, Math.max(second, third - 1)), end: third + flags.length };
}

function restOfLine(script: string, start: number): string {
  const end = script.indexOf("\n", start);
  return script.slice(start, end < 0 ? undefined : end);
}

function nextCommand(script: string, start: number): number {
  const offset = script.slice(start).search(/[;\n}]/);
  return offset < 0 ? script.length : start + offset + 1;
}
