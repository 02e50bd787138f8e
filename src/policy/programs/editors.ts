// Editors, viewers, database clients and debuggers: programs that can run commands themselves.

import type { EffectiveCommand } from "../shell-model/command.ts";
import { effectsOn, type RawEffect } from "./effect.ts";
import type { Program, ProgramFamily, RunsCommand } from "./program-record.ts";
import { type Options, type OptionTable, valuesOf } from "./read-options.ts";
import { runLanguage } from "./runs/interpreter-code.ts";
import { shellEscapes } from "./runs/shell-escapes.ts";

/** Walks the shell escapes, then the arguments as code in the program's own language. */
const alsoCode =
  (escapes: RunsCommand): RunsCommand =>
  (command, around, runner, table) => {
    escapes(command, around, runner, table);
    return runLanguage(command, around, runner, table);
  };

const VIM: Program = {
  runs: alsoCode(
    shellEscapes(
      /(?:^|\n)\+?[:\s]*(?:silent!?\s+|r\s*|w\s*|%|\d+,\d+)?!+\s*([^\n]+)|\bsystem(?:list)?\(\s*["']([^"'\n]+)/g,
    ),
  ),
};
const ED: Program = { runs: shellEscapes(/(?:^|\n)[er]?\s*!([^\n]+)/g) };
const PAGER: Program = { runs: shellEscapes(/^\+?!\s*([^\n]+)/g) };
const EDITOR_OPTIONS: OptionTable = { values: "-pcST" };
const EDITS: Program = { options: EDITOR_OPTIONS, effects: saved };

export const editors: ProgramFamily = {
  familiar: `code ed emacs ex info less man mongosh more mysql nano nvim patch psql redis-cli sqlite3 vi vim`,
  programs: {
    "vi vim": { ...VIM, ...EDITS, reads: true },
    "nvim ex": { ...VIM, ...EDITS },
    view: { ...VIM, reads: true },
    "nvi gvim vimdiff": VIM,
    ed: { ...ED, ...EDITS },
    red: ED,
    "less more most": { ...PAGER, reads: true },
    pg: PAGER,
    man: { ...PAGER, options: { values: "-MSC", runs: "-PH pager html" } },
    emacs: { options: { runs: "eval execute", singleDash: true }, reads: true },
    "nano code": { reads: true },
    "sqlite sqlite3": { runs: alsoCode(shellEscapes(/(?:^|\n)\s*\.(?:shell|system)\s+([^\n]+)/g)) },
    "mysql mariadb psql clickhouse-client": {
      runs: alsoCode(shellEscapes(/(?:\\!|(?:^|[;\n])\s*system)\s+([^\n;]+)|\bPROGRAM\s+'([^'\n]+)'/gi)),
    },
    "gdb lldb": { runs: alsoCode(shellEscapes(/^(?:shell|!|platform shell)\s*([^\n]+)/g)) },
    patch: {
      options: { values: "-piodrDVzBF directory input output" },
      effects: (options) => [
        ...effectsOn(options.operands.slice(0, 1), "write", { how: "edit" }),
        ...effectsOn(valuesOf(options, "-do directory output"), "write", { how: "edit" }),
      ],
    },
  },
};

/** The edited file, if a script saves it. The script is in an option, after a plus sign, or on stdin. */
function saved(options: Options, { program, args, stdin }: EffectiveCommand): readonly RawEffect[] {
  const scripts = valuesOf(options, "-c").map(({ text }) => text);
  const starts = args.filter(({ text }) => text.startsWith("+")).map(({ text }) => text.slice(1));
  const saves = [...scripts, ...starts].some((text) =>
    /(^|\|)[\s:]*(w|wq|x|xit|update|wall|wqa)!?\s*(\||$)/.test(text),
  );
  const types = stdin.text === null || /(^|\n)\s*(w|wq|x)/.test(stdin.text);
  if (!saves && (/vim?$/.test(program) || !types)) return [];
  const [file] = options.operands.filter(({ text }) => !text.startsWith("+"));
  return file ? effectsOn([file], "write", { how: "edit" }) : [];
}
