// Code for interpreters on the command line or on stdin. If a call in the code has literal arguments and runs or
// destroys something, the policy judges it as the equivalent shell command. So the same rules cover both.

import { POLICY_FOLDED_MAX_CHARS } from "../../../support/limits.ts";
import { changeDirectory, holdsCredentials } from "../../paths/paths.ts";
import { isPathAtRisk } from "../../protected-paths.ts";
import type { CommandContext, EffectiveCommand, Field, Runner } from "../../shell-model/command.ts";
import { type Flow, flowOf } from "../../shell-model/flow.ts";
import { isCertain, UNKNOWN } from "../../shell-model/marks.ts";
import { inSeparateProcess } from "../../shell-model/nested-context.ts";
import type { Span } from "../../shell-model/span.ts";
import { MAY_WRITE } from "../may-write.ts";
import { loosenedByCode } from "../nacre/nacre-code.ts";
import type { RunsCommand } from "../program-record.ts";
import { readOptions, valuesOf } from "../read-options.ts";
import { pathsNamed } from "./code-paths.ts";
import { type CodeScan, scanCode } from "./foreign-code.ts";

export const runInterpreter: RunsCommand = (command, around, runner, table) => {
  const options = readOptions(command.args, table, "at-operand");
  const texts = [...valuesOf(options, table.code ?? "")];
  const [first, second] = options.operands;
  if (command.program === "deno" && first?.text === "eval" && second) texts.push(second);
  if (texts.length === 0 && !options.flags.has("m")) texts.push(...scriptOf(first, command, around));
  // `python -m timeit` and similar modules take code as arguments.
  if (options.flags.has("m")) texts.push(...command.args.filter(({ text }) => /\w\(/.test(text)));
  for (const { text, span, flow } of texts) {
    const inside = { ...inSeparateProcess(around, command.program), assignments: [], span };
    runCode(text, inside, flow ?? null, command, runner);
  }
  return flowOf(null);
};

/**
 * A program whose arguments may be code: a rarely used language, or an unknown program. The policy does not know the
 * language, so every path in the code counts.
 */
export const runLanguage: RunsCommand = (command, around, runner) => {
  for (const { text, span } of codeGiven(command, around, runner)) {
    const inside = { ...inSeparateProcess(around, command.program), assignments: [], span };
    const scan = runCode(text, inside, null, command, runner);
    if (scan?.destroys || scan?.sends)
      reportPathsOfUnknownUse(scan, pathsNamed(withHomePath(text, runner)), command, inside, runner);
    for (const [, shell = ""] of text.matchAll(BARE_COMMANDS)) runner.runText(shell, inside);
  }
  return null;
};

/** Walks code in any language, from a file that an earlier command wrote. */
export function runCodeText(
  text: string,
  command: EffectiveCommand,
  around: CommandContext,
  runner: Runner,
): void {
  runCode(text, around, null, command, runner);
  for (const [, shell = ""] of text.matchAll(BARE_COMMANDS)) runner.runText(shell, around);
}

/** Commands without quotes: m4's `syscmd(…)`, dc's `!…`, gdb's `shell …`. */
const BARE_COMMANDS =
  /(?:\be?syscmd\(\[*|\\write18\s*\{|m4_esyscmd\(\[*|(?:^|\n)\s*!|(?:^|\n)\s*(?:shell|system)\s+(?!\())([^\n)\]"']{1,400})/g;

const withHomePath = (text: string, { where }: Runner): string =>
  text.replace(/~(?=\/|["'\s)]|$)|\$(?:env:)?(?:HOME\b|\{HOME\}|env\(HOME\))|%\*ENV<HOME>/g, where.home);

/**
 * Text that may be code: arguments that are more than a word or a path, stdin, and files in the arguments that an
 * earlier command wrote.
 */
function codeGiven(
  { args, stdin, span }: EffectiveCommand,
  { scope }: CommandContext,
  runner: Runner,
): readonly Field[] {
  const [cwd = UNKNOWN] = scope.cwds;
  if (scope.files.size > 0) runner.spend(args.length);
  const written = args.flatMap((arg): readonly Field[] => {
    const text = scope.files.size > 0 ? scope.files.get(changeDirectory(arg.text, cwd))?.text : undefined;
    return text === undefined || text === null ? [] : [{ ...arg, text }];
  });
  const texts = args.filter(({ text }) => /[\s("'!]/.test(text));
  const input =
    stdin.connected && stdin.text !== null && stdin.text !== "" ? [{ text: stdin.text, span }] : [];
  return [...texts, ...written, ...input];
}

/** The code from a file that the command wrote, from stdin or from a substitution. */
function scriptOf(
  first: Field | undefined,
  command: EffectiveCommand,
  around: CommandContext,
): readonly Field[] {
  const { span, stdin } = command;
  if (first?.flow) return [{ text: first.flow.text ?? UNKNOWN, span, flow: first.flow }];
  if (!first || first.text === "-" || first.text === "/dev/stdin") {
    return stdin.connected ? [{ text: stdin.text ?? UNKNOWN, span, flow: stdin }] : [];
  }
  const [cwd = UNKNOWN] = around.scope.cwds;
  const flow = around.scope.files.get(changeDirectory(first.text, cwd));
  return flow ? [{ text: flow.text ?? UNKNOWN, span: first.span, flow }] : [];
}

function runCode(
  code: string,
  around: CommandContext,
  flow: Flow | null,
  command: EffectiveCommand,
  runner: Runner,
): CodeScan | null {
  runner.spend(SCAN_STEPS + Math.min(code.length, POLICY_FOLDED_MAX_CHARS) / SCANNED_CHARS_PER_STEP);
  if (code.startsWith(UNKNOWN) && (code.length === 1 || !isCertain(code))) {
    const origins = [...(flow?.origins ?? []), ...command.substituted];
    // Redirecting a script to stdin is the same as naming the script.
    if (origins.join() === "file") return null;
    const kind = origins.includes("network") ? "remote-code" : "hidden-code";
    runner.sign(kind, around.span, `${command.program} runs code that is built at run time`);
  }
  if (code.length > POLICY_FOLDED_MAX_CHARS)
    runner.sign("hidden-code", around.span, "the code is too long to judge");
  const loosened = loosenedByCode(code.slice(0, POLICY_FOLDED_MAX_CHARS));
  if (loosened !== null) runner.sign("loosens-policy", around.span, `${command.program} ${loosened}`);
  const scan = scanCode(code, runner.where.home);
  // Tcl commands need no quotes.
  const bare = /^(tclsh|expect|wish)/.test(command.program)
    ? [...code.matchAll(/\b(?:exec|spawn|system)\s+(?:-\w+\s+)*([^;\n\]"]{1,400})/g)].map(
        ([, text = ""]) => text,
      )
    : [];
  reportPathsOfUnknownUse(scan, scan.paths, command, around, runner);
  for (const text of [...scan.texts, ...bare]) runner.runText(text, around);
  for (const argv of [...scan.argvs, ...sentSecrets(scan, around)])
    runner.runArgv(
      argv.map((text) => ({ text, span: around.span })),
      around,
    );
  signs(scan, command.program, around.span, runner);
  return scan;
}

/** The cost of searching the code with about fifty regular expressions. */
const SCAN_STEPS = 20;
const SCANNED_CHARS_PER_STEP = 8;

/** Reports a protected path if the policy does not know what the code does with it. */
function reportPathsOfUnknownUse(
  { destroys }: CodeScan,
  paths: readonly string[],
  { program }: EffectiveCommand,
  { scope, span }: CommandContext,
  runner: Runner,
): void {
  const [cwd = UNKNOWN] = scope.cwds;
  const how = destroys ? MAY_WRITE.unknown : MAY_WRITE.familiar;
  const risky = paths.find((path) =>
    scope.made.links.resolve(path, cwd, true).some((one, i) => isPathAtRisk(one, how, i === 0)),
  );
  if (risky !== undefined)
    runner.sign("unknown-effect", span, `${program} code uses ${risky}, and the policy does not know how`);
}

/** Keys that the code reads and sends, as equivalent shell commands. */
function sentSecrets(
  { sends, posts, argvs, literals }: CodeScan,
  { scope }: CommandContext,
): readonly (readonly string[])[] {
  if (!sends) return [];
  const [cwd = UNKNOWN] = scope.cwds;
  const holdsKeys = (path: string) => scope.made.links.resolve(path, cwd, true).some(holdsCredentials);
  const read = argvs.flatMap(([program, , path = ""]) => (program === "cat" ? [path] : []));
  const keys = [...read, ...literals].filter(holdsKeys);
  const sent = keys.length > 0 ? keys : posts ? read : [];
  return sent.map((path) => ["curl", "-T", path, "https://unknown.example"]);
}

function signs(scan: CodeScan, program: string, span: Span, runner: Runner): void {
  if (scan.isHidden) runner.sign("hidden-code", span, `${program} runs its input or its arguments`);
  if (scan.forks)
    runner.sign(
      scan.forks === "certain" ? "fork-bomb" : "fork-maybe",
      span,
      `${program} forks in an endless loop`,
    );
  if (scan.isFetched) runner.sign("remote-code", span, `${program} runs code that it downloads`);
  if (scan.reverseShell) runner.sign("reverse-shell", span, `${program} connects a shell to a socket`);
}
