// Interpreters with their code on the command line or on stdin: what the code would run or destroy, as far as literals
// show it. Shown as the shell command that does the same, so that one set of rules judges both.

import { POLICY_FOLDED_MAX_CHARS } from "../../support/limits.ts";
import { changeDirectory, holdsCredentials, type Where } from "../paths/paths.ts";
import { remembered } from "../remembered.ts";
import type { CommandContext, EffectiveCommand, Field, Runner } from "../shell-model/command.ts";
import { type Flow, flowOf, NO_FLOW } from "../shell-model/flow.ts";
import { isCertain, UNKNOWN } from "../shell-model/marks.ts";
import type { Span } from "../shell-model/span.ts";
import { type OptionTable, readOptions, valuesOf } from "./argv.ts";
import { scanAwk } from "./awk.ts";
import { type CodeScan, scanCode } from "./code.ts";
import { loosenedByCode } from "./nacre-code.ts";

interface Interpreter extends OptionTable {
  /** Options whose value is code. */
  readonly code: readonly string[];
  /** First operand that makes the second one code. */
  readonly verb?: string;
}

const INTERPRETERS: readonly (readonly [RegExp, Interpreter])[] = [
  [/^(python|pypy|ipython|bpython)[\d.]*$/, { code: ["c"], values: "cmWX" }],
  [/^perl[\d.]*$/, { code: ["e", "E"], values: "eEIMm" }],
  [/^j?ruby[\d.]*$/, { code: ["e"], values: "eICErF" }],
  [
    /^(node|nodejs)$/,
    {
      code: ["e", "p", "eval", "print", "pe"],
      values: "eprC",
      longValues: ["eval", "print", "require", "import"],
    },
  ],
  [/^(bun|tsx|ts-node)$/, { code: ["e", "eval", "p", "print"], values: "ep", longValues: ["eval", "print"] }],
  [/^deno$/, { code: ["e"], values: "", verb: "eval" }],
  [/^php[\d.]*$/, { code: ["r", "B", "R", "E"], values: "rBREdcfStz" }],
  [/^lua(jit)?[\d.]*$/, { code: ["e"], values: "el" }],
  [/^(Rscript|R)$/, { code: ["e"], values: "e" }],
  [/^erl$/, { code: ["eval"], longValues: ["eval", "s", "pa", "sname", "name"], singleDash: true }],
  [/^osascript$/, { code: ["e"], values: "el" }],
  [/^(tclsh|expect|julia|elixir|guile|groovy|scala|swift)[\d.]*$/, { code: ["c", "e", "E"], values: "ceE" }],
];

const interpreterOf = remembered((program) => INTERPRETERS.find(([name]) => name.test(program))?.[1] ?? null);

interface CodeRunner extends Runner {
  readonly where: Where;
}

export function runInterpreter(
  command: EffectiveCommand,
  around: CommandContext,
  runner: CodeRunner,
): Flow | null {
  if (/^([gmn]?awk|busybox-awk)$/.test(command.program))
    return scanAwk(command, inside(command, around), runner);
  const interpreter = interpreterOf(command.program);
  if (interpreter === null) return null;
  const options = readOptions(command.args, { ...interpreter, stopAtOperand: true });
  const texts = [...valuesOf(options, ...interpreter.code)];
  const [first, second] = options.operands;
  if (interpreter.verb !== undefined && first?.text === interpreter.verb && second) texts.push(second);
  if (texts.length === 0 && !options.flags.has("m")) texts.push(...scriptOf(first, command, around));
  for (const { text, span, flow } of texts)
    runCode(text, { ...inside(command, around), span }, flow ?? null, command, runner);
  return flowOf(null);
}

/** The program text when it is read from a file the command wrote, from stdin or from a substitution. */
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
  runner: CodeRunner,
): void {
  if (code.startsWith(UNKNOWN) && (code.length === 1 || !isCertain(code))) {
    const origins = [...(flow?.origins ?? []), ...command.substituted];
    // A script by its name, only given as input.
    if (origins.join() === "file") return;
    const kind = origins.includes("network") ? "remote-code" : "hidden-code";
    runner.sign(kind, around.span, `${command.program} runs code that is made at run time`);
  }
  if (code.length > POLICY_FOLDED_MAX_CHARS)
    runner.sign("hidden-code", around.span, "the code is too long to be read");
  const loosened = loosenedByCode(code.slice(0, POLICY_FOLDED_MAX_CHARS));
  if (loosened !== null) runner.sign("loosens-policy", around.span, `${command.program} ${loosened}`);
  const scan = scanCode(code, runner.where.home);
  // In Tcl the words of a command stand as they are.
  const bare = /^(tclsh|expect|wish)/.test(command.program)
    ? [...code.matchAll(/\b(?:exec|spawn|system)\s+(?:-\w+\s+)*([^;\n\]"]{1,400})/g)].map(
        ([, text = ""]) => text,
      )
    : [];
  for (const text of [...scan.texts, ...bare]) runner.runText(text, around);
  for (const argv of [...scan.argvs, ...sentSecrets(scan, around)])
    runner.runArgv(
      argv.map((text) => ({ text, span: around.span })),
      around,
    );
  signs(scan, command.program, around.span, runner);
}

/** Keys that the code reads and sends, as the command that does the same. */
function sentSecrets({ sends, argvs }: CodeScan, { scope }: CommandContext): readonly (readonly string[])[] {
  if (!sends) return [];
  const [cwd = UNKNOWN] = scope.cwds;
  return argvs
    .filter(
      ([program, , path = ""]) =>
        program === "cat" && scope.made.links.places(path, cwd, true).some(holdsCredentials),
    )
    .map(([, , path = ""]) => ["curl", "-T", path]);
}

function signs(scan: CodeScan, program: string, span: Span, runner: Runner): void {
  if (scan.isHidden) runner.sign("hidden-code", span, `${program} runs what it is given`);
  if (scan.forks)
    runner.sign(scan.forks === "certain" ? "fork-bomb" : "fork-maybe", span, `${program} forks without end`);
  if (scan.isFetched) runner.sign("remote-code", span, `${program} runs code that it fetches first`);
  if (scan.reverseShell) runner.sign("reverse-shell", span, `${program} connects a shell to a socket`);
}

function inside(command: EffectiveCommand, around: CommandContext): CommandContext {
  return {
    ...around,
    scope: around.scope.fork(),
    via: [...around.via, command.program],
    redirects: [],
    assignments: [],
    stdin: NO_FLOW,
  };
}
