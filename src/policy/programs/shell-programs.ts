// Shells and what feeds them: -c texts, scripts on stdin, sourced files, and files the same command wrote before.

import { changeDirectory } from "../paths/paths.ts";
import { remembered } from "../remembered.ts";
import type { CommandContext, EffectiveCommand, Field, Runner } from "../shell-model/command.ts";
import { type Flow, flowOf, NO_FLOW } from "../shell-model/flow.ts";
import { isUnresolved, UNKNOWN } from "../shell-model/marks.ts";
import type { Span } from "../shell-model/span.ts";
import { type OptionTable, readOptions } from "./argv.ts";

const SHELLS = new Set([
  "sh",
  "bash",
  "dash",
  "zsh",
  "ksh",
  "mksh",
  "ash",
  "rbash",
  "fish",
  "csh",
  "tcsh",
  "yash",
]);

const SHELL_OPTIONS: OptionTable = { values: "oO", longValues: ["rcfile", "init-file"], stopAtOperand: true };

/** Whether the program is a shell, with or without a version in its name. */
export const isShell = remembered((program) => SHELLS.has(program.replace(/-?\d[\d.]*$/, "")));

/** A shell or a sourcing builtin; null for anything else. */
export function runShell(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  if (command.called === "." || command.called === "source") {
    const [file, ...rest] = command.args;
    if (!file) return null;
    const scope = around.scope;
    if (rest.length > 0) scope.positional = rest.map(({ text }) => text);
    return readScript(file, command, { ...around, via: [...around.via, "source"], redirects: [] }, runner);
  }
  if (!isShell(command.program)) return null;
  // `+x` switches an option off and is no script.
  const args = command.args.filter(({ text }) => !/^\+[A-Za-z]+$/.test(text));
  const { flags, operands, values } = readOptions(args, SHELL_OPTIONS);
  for (const file of [...(values.get("rcfile") ?? []), ...(values.get("init-file") ?? [])]) {
    readScript(file, command, inShell(command, around, null), runner);
  }
  const [first, ...rest] = operands;
  if (flags.has("c")) return first ? runTextOf(first, rest, command, around, runner) : null;
  if (!first || flags.has("s")) return readStdin(command, inShell(command, around, operands), runner);
  return readScript(first, command, inShell(command, around, rest), runner);
}

/** A program by its path that the same command wrote or fetched before. */
export function runFile(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  if (!command.called.includes("/")) return null;
  const flow = knownFile(command.called, around);
  return flow ? runFlow(flow, command.span, inShell(command, around, command.args), runner) : null;
}

/** Runs what a shell would read; reports text that is not known before the run. */
export function runFlow(flow: Flow, span: Span, around: CommandContext, runner: Runner): Flow {
  if ((flow.text === null || isUnresolved(flow.text)) && !/^(settings|file)$/.test(flow.origins.join())) {
    const kind = flow.origins.includes("socket")
      ? "reverse-shell"
      : flow.origins.includes("network")
        ? "remote-code"
        : "hidden-code";
    runner.sign(kind, span, "a shell runs a text that is made at run time");
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
    const remote = command.substituted.includes("network");
    runner.sign(
      remote ? "remote-code" : "hidden-code",
      text.span,
      "a shell runs a text that is made at run time",
    );
  }
  const inside = inShell(command, around, args.slice(1));
  // The first argument behind the text is $0.
  inside.scope.assign("0", [args[0]?.text ?? command.called]);
  const flow = runner.runText(text.text, {
    ...inside,
    stdin: around.stdin,
    span: text.span,
  });
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
    runner.sign("hidden-code", file.span, "a shell runs a file that is named at run time");
  return flowOf(null, ["shell"]);
}

function knownFile(text: string, { scope }: CommandContext): Flow | undefined {
  const [cwd = UNKNOWN] = scope.cwds;
  return scope.files.size > 0 ? scope.files.get(changeDirectory(text, cwd)) : undefined;
}

function inShell(
  command: EffectiveCommand,
  around: CommandContext,
  args: readonly Field[] | null,
): CommandContext {
  const scope = around.scope.fork();
  scope.exitsOnError = command.args.some(({ text }) => /^-\w*e/.test(text) && isShell(command.program));
  scope.positional = args?.map(({ text }) => text) ?? null;
  for (const { name } of command.assignments) {
    const same = command.assignments.filter((one) => one.name === name);
    scope.assign(
      name,
      same.map(({ value }) => value),
    );
  }
  const via = [...around.via, command.program];
  return { ...around, scope, via, redirects: [], assignments: [], stdin: NO_FLOW };
}
