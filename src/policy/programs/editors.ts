// Editors and viewers that run commands from inside: sed's e and w, vim's :!, ed's !, less's +!, .shell of sqlite3.

import { remembered } from "../remembered.ts";
import type { CommandContext, EffectiveCommand, Field, Runner } from "../shell-model/command.ts";
import { type Flow, flowOf, NO_FLOW } from "../shell-model/flow.ts";
import { readOptions, valuesOf } from "./argv.ts";
import { sedActions } from "./sed.ts";

export function runEditor(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  if (/^g?sed$/.test(command.program)) return runSed(command, within(command, around), runner);
  const bang = bangOf(command.program);
  if (bang === null) return null;
  const inside = within(command, around);
  for (const { text, span } of textsOf(command)) {
    for (const [, shell = "", called = ""] of text.matchAll(bang)) {
      runner.sign("runs-program", span, `${command.program} runs a command from inside`);
      runner.runText(shell || called, { ...inside, span });
    }
  }
  return null;
}

/** How each program is told to run a command. */
const BANGS: readonly (readonly [RegExp, RegExp])[] = [
  [
    /^(n?vim?|view|ex|gvim|vimdiff)$/,
    /(?:^|\n)\+?[:\s]*(?:silent!?\s+|r\s*|w\s*|%|\d+,\d+)?!+\s*([^\n]+)|\bsystem(?:list)?\(\s*["']([^"'\n]+)/g,
  ],
  [/^(ed|red)$/, /(?:^|\n)[er]?\s*!([^\n]+)/g],
  [/^(less|more|most|man|pg)$/, /^\+?!\s*([^\n]+)/g],
  [/^sqlite3?$/, /(?:^|\n)\s*\.(?:shell|system)\s+([^\n]+)/g],
  [/^(mysql|mariadb|psql|clickhouse-client)$/, /(?:\\!|(?:^|[;\n])\s*system)\s+([^\n;]+)/g],
  [/^(gdb|lldb)$/, /^(?:shell|!|platform shell)\s*([^\n]+)/g],
  [/^(ftp|sftp|telnet|mail|mailx)$/, /(?:^|\n)~?!\s*([^\n]+)/g],
];

const bangOf = remembered((program) => BANGS.find(([name]) => name.test(program))?.[1] ?? null);

function within(command: EffectiveCommand, around: CommandContext): CommandContext {
  return { ...around, via: [...around.via, command.program], redirects: [], stdin: NO_FLOW };
}

function textsOf(command: EffectiveCommand): readonly Field[] {
  const { args, stdin, span } = command;
  return stdin.text !== null && stdin.connected ? [...args, { text: stdin.text, span }] : args;
}

function runSed(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow {
  const options = readOptions(command.args, {
    values: "efl",
    longValues: ["expression", "file", "line-length"],
  });
  const expressions = valuesOf(options, "e", "expression");
  const scripts =
    expressions.length > 0 || options.flags.has("f") ? expressions : options.operands.slice(0, 1);
  for (const { text, span } of scripts) {
    const { runs, executes, writes } = sedActions(text);
    if (executes) runner.sign("runs-program", span, "sed runs what its script or its input says");
    for (const shell of runs) runner.runText(shell, { ...around, span });
    for (const path of writes)
      runner.runArgv(
        [
          { text: "tee", span },
          { text: path, span },
        ],
        around,
      );
  }
  return flowOf(null, command.stdin.origins);
}
