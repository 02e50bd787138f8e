// Shells and their scripts: -c texts, stdin, sourced files, and files that the same command wrote earlier.

import { changeDirectory } from "../../paths/paths.ts";
import type { CommandContext, EffectiveCommand, Field, Runner } from "../../shell-model/command.ts";
import { type Flow, flowOf } from "../../shell-model/flow.ts";
import { isUnresolved, UNKNOWN } from "../../shell-model/marks.ts";
import { inSeparateProcess } from "../../shell-model/nested-context.ts";
import type { Span } from "../../shell-model/span.ts";
import type { RunsCommand } from "../program-record.ts";
import { readOptions, valuesOf } from "../read-options.ts";

const MADE_AT_RUN_TIME = "a shell runs text that is built at run time";

/** Walks the script that the builtin `source` or `.` reads. */
export const runSource: RunsCommand = (command, around, runner) => {
  const [file, ...rest] = command.args;
  if (!file || command.called.includes("/")) return null;
  const scope = around.scope;
  if (rest.length > 0) scope.positional = rest.map(({ text }) => text);
  return readScript(file, command, { ...around, via: [...around.via, "source"], redirects: [] }, runner);
};

export const runShell: RunsCommand = (command, around, runner, table) => {
  // `+x` turns an option off; it is not a script.
  const args = command.args.filter(({ text }) => !/^\+[A-Za-z]+$/.test(text));
  const options = readOptions(args, table, "at-operand");
  for (const file of valuesOf(options, "rcfile init-file"))
    readScript(file, command, inShell(command, around, null), runner);
  const { flags, operands } = options;
  const [first, ...rest] = operands;
  if (flags.has("c")) return first ? runTextOf(first, rest, command, around, runner) : null;
  if (!first || flags.has("s")) return readStdin(command, inShell(command, around, operands), runner);
  return readScript(first, command, inShell(command, around, rest), runner);
};

/** Walks a program that the same command wrote or downloaded earlier. */
export function runFile(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  const flow = command.called.includes("/") ? knownFile(command.called, around) : fileInPath(command, around);
  if (!flow) return null;
  const inside = inShell(command, around, command.args, false);
  inside.scope.assign("0", [command.called]);
  return runFlow(flow, command.span, inside, runner);
}

/** Walks the text that a shell reads, or reports that this text is known only at run time. */
export function runFlow(flow: Flow, span: Span, around: CommandContext, runner: Runner): Flow {
  if ((flow.text === null || isUnresolved(flow.text)) && !/^(settings|file)$/.test(flow.origins.join())) {
    const kind = flow.origins.includes("socket")
      ? "reverse-shell"
      : flow.origins.includes("network")
        ? "remote-code"
        : "hidden-code";
    runner.sign(kind, span, MADE_AT_RUN_TIME);
  }
  if (flow.text === null) return flowOf(null, ["shell"]);
  return runner.runText(flow.text, around);
}

function runTextOf(
  text: Field,
  args: readonly Field[],
  command: EffectiveCommand,
  around: CommandContext,
  runner: Runner,
): Flow {
  if (isUnresolved(text.text)) {
    const kind = command.substituted.includes("network") ? "remote-code" : "hidden-code";
    runner.sign(kind, text.span, MADE_AT_RUN_TIME);
  }
  const inside = inShell(command, around, args.slice(1));
  // The first argument after the text is $0.
  inside.scope.assign("0", [args[0]?.text ?? command.called]);
  const flow = runner.runText(text.text, { ...inside, stdin: around.stdin, span: text.span });
  return { ...flow, origins: [...flow.origins, "shell"] };
}

function readStdin(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow {
  if (!command.stdin.connected) return flowOf(null, ["shell"]);
  const flow = runFlow(command.stdin, command.span, around, runner);
  return { ...flow, origins: [...flow.origins, "shell"] };
}

function readScript(file: Field, command: EffectiveCommand, around: CommandContext, runner: Runner): Flow {
  if (file.flow) return runFlow(file.flow, file.span, around, runner);
  if (/^(-|\/dev\/(stdin|fd\/0)|\/proc\/self\/fd\/0)$/.test(file.text))
    return readStdin(command, around, runner);
  const known = knownFile(file.text, around);
  if (known) return runFlow(known, file.span, around, runner);
  if (file.text === UNKNOWN || /^\/(dev|proc\/[^/]*)\/fd\//.test(file.text))
    runner.sign("hidden-code", file.span, "a shell runs a file whose name is known only at run time");
  return flowOf(null, ["shell"]);
}

/** The text of a program that the command wrote to a directory in PATH. */
function fileInPath({ called, assignments }: EffectiveCommand, around: CommandContext): Flow | undefined {
  const { scope } = around;
  if (scope.files.size === 0) return undefined;
  const given = assignments.filter(({ name }) => name === "PATH").map(({ value }) => value);
  const values = given.length > 0 ? given : (scope.variable("PATH")?.values ?? []);
  for (const entry of values.flatMap((value) => value.split(":"))) {
    const flow = knownFile(`${entry === "" ? "." : entry}/${called}`, around);
    if (flow) return flow;
  }
  return undefined;
}

function knownFile(text: string, { scope }: CommandContext): Flow | undefined {
  const [cwd = UNKNOWN] = scope.cwds;
  return scope.files.size > 0 ? scope.files.get(changeDirectory(text, cwd)) : undefined;
}

function inShell(
  command: EffectiveCommand,
  around: CommandContext,
  args: readonly Field[] | null,
  exitsOnError = command.args.some(({ text }) => /^-\w*e/.test(text)),
): CommandContext {
  const inside = inSeparateProcess(around, command.program);
  const { scope } = inside;
  scope.exitsOnError = exitsOnError;
  scope.positional = args?.map(({ text }) => text) ?? null;
  for (const { name } of command.assignments) {
    const same = command.assignments.filter((one) => one.name === name);
    scope.assign(
      name,
      same.map(({ value }) => value),
    );
  }
  return { ...inside, assignments: [] };
}
