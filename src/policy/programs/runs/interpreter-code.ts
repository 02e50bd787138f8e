// Code for interpreters on the command line or on stdin: what its literals run or destroy. Each such call is judged as
// the equivalent shell command, so that one set of rules covers both.

import { POLICY_FOLDED_MAX_CHARS } from "../../../support/limits.ts";
import { changeDirectory, holdsCredentials } from "../../paths/paths.ts";
import type { CommandContext, EffectiveCommand, Field, Runner } from "../../shell-model/command.ts";
import { type Flow, flowOf } from "../../shell-model/flow.ts";
import { isCertain, UNKNOWN } from "../../shell-model/marks.ts";
import { apartFrom } from "../../shell-model/nested-context.ts";
import type { Span } from "../../shell-model/span.ts";
import { loosenedByCode } from "../nacre/nacre-code.ts";
import type { RunsCommand } from "../program-record.ts";
import { readOptions, valuesOf } from "../read-options.ts";
import { type CodeScan, scanCode } from "./foreign-code.ts";

export const runInterpreter: RunsCommand = (command, around, runner, table) => {
  const options = readOptions(command.args, table, "at-operand");
  const texts = [...valuesOf(options, table.code ?? "")];
  const [first, second] = options.operands;
  if (command.program === "deno" && first?.text === "eval" && second) texts.push(second);
  if (texts.length === 0 && !options.flags.has("m")) texts.push(...scriptOf(first, command, around));
  for (const { text, span, flow } of texts) {
    const inside = { ...apartFrom(around, command.program), assignments: [], span };
    runCode(text, inside, flow ?? null, command, runner);
  }
  return flowOf(null);
};

/** The code of a file that the command wrote, of stdin or of a substitution. */
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
): void {
  if (code.startsWith(UNKNOWN) && (code.length === 1 || !isCertain(code))) {
    const origins = [...(flow?.origins ?? []), ...command.substituted];
    // A named script, passed as input.
    if (origins.join() === "file") return;
    const kind = origins.includes("network") ? "remote-code" : "hidden-code";
    runner.sign(kind, around.span, `${command.program} runs code that is built at run time`);
  }
  if (code.length > POLICY_FOLDED_MAX_CHARS)
    runner.sign("hidden-code", around.span, "the code is too long to be read");
  const loosened = loosenedByCode(code.slice(0, POLICY_FOLDED_MAX_CHARS));
  if (loosened !== null) runner.sign("loosens-policy", around.span, `${command.program} ${loosened}`);
  const scan = scanCode(code, runner.where.home);
  // Tcl commands need no quotes.
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

/** Keys that the code reads and sends, as equivalent shell commands. */
function sentSecrets({ sends, argvs }: CodeScan, { scope }: CommandContext): readonly (readonly string[])[] {
  if (!sends) return [];
  const [cwd = UNKNOWN] = scope.cwds;
  return argvs
    .filter(
      ([program, , path = ""]) =>
        program === "cat" && scope.made.links.resolve(path, cwd, true).some(holdsCredentials),
    )
    .map(([, , path = ""]) => ["curl", "-T", path]);
}

function signs(scan: CodeScan, program: string, span: Span, runner: Runner): void {
  if (scan.isHidden) runner.sign("hidden-code", span, `${program} runs its input or its arguments`);
  if (scan.forks)
    runner.sign(scan.forks === "certain" ? "fork-bomb" : "fork-maybe", span, `${program} forks without end`);
  if (scan.isFetched) runner.sign("remote-code", span, `${program} runs code that it fetches first`);
  if (scan.reverseShell) runner.sign("reverse-shell", span, `${program} connects a shell to a socket`);
}
