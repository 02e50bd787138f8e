// find and fd: -exec and -delete apply to everything below the roots, unless a test selects some files.

import { POLICY_FIND_NAMES_MAX_COUNT } from "../../../support/limits.ts";
import { couldBe } from "../../paths/path-parts.ts";
import { changeDirectory } from "../../paths/paths.ts";
import type { CommandContext, Field, Runner } from "../../shell-model/command.ts";
import { flowOf } from "../../shell-model/flow.ts";
import { withGlobs } from "../../shell-model/glob.ts";
import { DEEP, MANY, STAR } from "../../shell-model/marks.ts";
import { inSeparateProcess } from "../../shell-model/nested-context.ts";
import type { RunsCommand } from "../program-record.ts";
import { readOptions, valuesOf } from "../read-options.ts";

export interface Search {
  readonly roots: readonly Field[];
  /** Whether a test such as -name selects only some of the files below the roots. */
  readonly narrowed: boolean;
  /** Patterns for the names of the selected files. */
  readonly names: readonly string[];
  readonly expression: readonly Field[];
}

/** The paths that a search finds: each root with a mark for everything below it, or with the selected names. */
export function foundPaths({ roots, narrowed, names }: Search): readonly Field[] {
  const below = narrowed ? [MANY, ...names] : [DEEP];
  return roots.flatMap((root) => {
    const text = root.text.replace(/\/+$/, "");
    return below.map((name) => ({ ...root, text: `${text}/${name}` }));
  });
}

export function readFind(args: readonly Field[]): Search {
  const start = args.findIndex(({ text }) => !/^-([HLP]|D|O\d?)$/.test(text));
  const rest = start < 0 ? [] : args.slice(start);
  const end = rest.findIndex(({ text }) => /^(-.|[(!,])/.test(text));
  const roots = end < 0 ? rest : rest.slice(0, end);
  const expression = end < 0 ? [] : rest.slice(end);
  return {
    roots: roots.length > 0 ? roots : [here(args)],
    narrowed: isNarrow(expression),
    names: namesIn(expression),
    expression,
  };
}

/** The selected names, without those of a pruned branch (`-name .git -prune -o …`). */
function namesIn(expression: readonly Field[]): readonly string[] {
  if (expression.some(({ text }, i) => isNegation(text) && expression[i + 1]?.text === "(")) return [];
  const names: string[] = [];
  let branch: string[] = [];
  for (const [i, { text }] of expression.entries()) {
    const name = expression[i + 1]?.text;
    if (/^(-o|-or|,)$/.test(text)) {
      names.push(...branch);
      branch = [];
    } else if (text === "-prune") branch = [];
    else if (/^-i?name$/.test(text) && name !== undefined && !isNegation(expression[i - 1]?.text ?? ""))
      branch.push(withGlobs(text === "-iname" ? name.toLowerCase() : name));
  }
  // A repository is a directory, so `-type f` does not find it.
  const isFiles = expression.some(({ text }, i) => text === "-type" && expression[i + 1]?.text === "f");
  return [...names, ...branch]
    .filter((name) => !isFiles || !couldBe(name, ".git"))
    .slice(0, POLICY_FIND_NAMES_MAX_COUNT);
}

const isNegation = (text: string): boolean => text === "!" || text === "-not";

const here = (args: readonly Field[]): Field => ({ text: ".", span: args[0]?.span ?? { start: 0, end: 0 } });

const NARROWING =
  /^-(i?name|i?path|i?wholename|i?regex|i?lname|[acm](time|min)|a?newer\w*|size|user|group|uid|gid|perm|empty|inum|links|samefile|nouser|nogroup)$/;

/** Whether every branch of the expression contains a test that excludes files. */
function isNarrow(expression: readonly Field[]): boolean {
  let branches = 1;
  let tests = 0;
  for (const [i, { text }] of expression.entries()) {
    if (text === "-o" || text === "-or" || text === ",") branches += 1;
    const negated = isNegation(expression[i - 1]?.text ?? "");
    const value = expression[i + 1]?.text ?? "";
    const everything = /name$|path$|regex$/.test(text) && /^[.*/?]*$/.test(value.replaceAll(STAR, "*"));
    if (NARROWING.test(text) && !negated && !everything) tests += 1;
  }
  return tests >= branches;
}

export const runFind: RunsCommand = (command, around, runner) => {
  runner.spend(10 + 2 * command.args.length);
  const search = readFind(command.args);
  const paths = foundPaths(search).map(({ text }) => text);
  const { expression } = search;
  for (let i = 0; i < expression.length; i++) {
    if (!/^-(exec|ok)(dir)?$/.test(expression[i]?.text ?? "")) continue;
    const start = i + 1;
    while (i + 1 < expression.length && !/^[;+]$/.test(expression[i + 1]?.text ?? "")) i += 1;
    const within = inSeparateProcess(around, command.program);
    const [root] = search.roots;
    if (expression[start - 1]?.text.endsWith("dir") && root)
      within.scope.move((cwd) => changeDirectory(root.text, cwd));
    const argv = expression.slice(start, i + 1);
    if (!search.narrowed) noteOwnProgram(argv, runner);
    runOnPaths(argv, paths, within, runner);
  }
  return flowOf(paths.join("\n"), []);
};

export const runFd: RunsCommand = (command, around, runner, table) => {
  const at = command.args.findIndex(({ text }) => /^(-x|-X|--exec|--exec-batch)$/.test(text));
  const own = at < 0 ? command.args : command.args.slice(0, at);
  const options = readOptions(own, table);
  const [pattern, ...roots] = options.operands;
  const narrowed = !/^[.*^$]*$/.test(pattern?.text ?? "") || valuesOf(options, "-eS extension").length > 0;
  const search: Search = {
    roots: roots.length > 0 ? roots : [here(command.args)],
    narrowed,
    names: [],
    expression: [],
  };
  const paths = foundPaths(search).map(({ text }) => text);
  if (at >= 0) {
    const argv = command.args.slice(at + 1);
    if (!narrowed) noteOwnProgram(argv, runner);
    runOnPaths(argv, paths, inSeparateProcess(around, command.program), runner, true);
  }
  return flowOf(paths.join("\n"));
};

/**
 * Reports a program that is named by a path outside the system's bin directories (such as ./fix.sh): find would run
 * it on every file, even on files in .git. Call this only if no test such as -name limits the files.
 */
function noteOwnProgram([program]: readonly Field[], runner: Runner): void {
  if (program?.text.includes("/") && !/^\/(usr\/)?(local\/)?s?bin\//.test(program.text))
    runner.sign("runs-program", program.span, `${program.text} runs on every file found`);
}

function runOnPaths(
  argv: readonly Field[],
  paths: readonly string[],
  around: CommandContext,
  runner: Runner,
  appends = false,
): void {
  const [program] = argv;
  if (!program) return;
  const placed = argv.some(({ text }) => text.includes("{}"));
  for (const path of paths) {
    const filled = argv.map((field) => ({ ...field, text: field.text.replaceAll("{}", path) }));
    runner.runArgv(placed || !appends ? filled : [...filled, { text: path, span: program.span }], around);
  }
}
