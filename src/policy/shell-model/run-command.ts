// Walks one argv: finds the program, its changes to the scope, the commands that it runs, and its output.

import { POLICY_NAMES_MAX_DEPTH } from "../../support/limits.ts";
import { shellQuote } from "../../support/shell-quote.ts";
import { changeDirectory, type Where } from "../paths/paths.ts";
import { runNacre } from "../programs/nacre/nacre-call.ts";
import { runAgent } from "../programs/nacre/skipped-approvals.ts";
import { runStarted } from "../programs/nacre/started-program.ts";
import { isKnownProgram, programNamed } from "../programs/programs.ts";
import { readOptions } from "../programs/read-options.ts";
import { runProgram } from "../programs/run-program.ts";
import { runFile } from "../programs/runs/shell-scripts.ts";
import { runWritten } from "../programs/runs/written-files.ts";
import { remembered } from "../remembered.ts";
import { isBuiltinName } from "./builtin-names.ts";
import { runBuiltin } from "./builtins.ts";
import type { CommandContext, EffectiveCommand, Field, Runner } from "./command.ts";
import type { Flow } from "./flow.ts";
import { flowOf, joinOrigins } from "./flow.ts";
import { couldMatch } from "./glob.ts";
import { hasGlob, isUnresolved, UNKNOWN } from "./marks.ts";
import { inSameProcess } from "./nested-context.ts";
import { foldOutput } from "./printed-output.ts";
import { isRedefined, isWritableByCommands, originOf, unknownEffect } from "./program-identity.ts";
import type { Scope } from "./script-scope.ts";
import { runVariables, visibleAssignments } from "./variables.ts";

/** A runner that also collects the effective commands and calls the functions of the script. */
export interface CommandRunner extends Runner {
  emit(command: EffectiveCommand): void;
  callFunction(name: string, args: readonly Field[], around: CommandContext): Flow | null;
}

export function runCommand(argv: readonly Field[], around: CommandContext, runner: CommandRunner): Flow {
  const command = describe(argv, around, runner.where);
  runner.emit(command);
  const [first] = argv;
  runVariables(command, around, runner);
  if (!first) return flowOf("");
  if (isUnresolved(command.called) || hasGlob(command.called))
    return runUnknown(command, first, around, runner);
  runOtherMeanings(command, around, runner);
  const called = runner.callFunction(command.called, command.args, around);
  if (called) return called;
  runWritten(command, around, runner);
  const ran = isReplaced(command, around) ? flowOf(null) : runInside(command, around, runner);
  if (around.scope.hasOption("autocd")) enterDirectory(command, around);
  noteLeft(command, around.scope);
  const printed = foldOutput(command, around.scope, runner.where);
  return ran ? { ...ran, origins: joinOrigins(ran.origins, printed.origins) } : printed;
}

/** Records the files that the command creates, for later commands. */
function noteLeft(command: EffectiveCommand, scope: Scope): void {
  const { leaves, options } = programNamed(command.program);
  if (leaves) leaves(readOptions(command.args, options), command, scope);
}

/**
 * Whether a builtin that changes the directory was replaced. The replacement does not change the directory as the
 * builtin would.
 */
function isReplaced(command: EffectiveCommand, around: CommandContext): boolean {
  return /^(cd|pushd|popd)$/.test(command.called) && isRedefined(command, around);
}

/** With `autocd`, a directory name without a command is a `cd`. */
function enterDirectory({ called, args }: EffectiveCommand, { scope }: CommandContext): void {
  if (args.length > 0 || isKnownProgram(called) || isBuiltinName(called)) return;
  scope.tryMove((cwd) => [changeDirectory(called, cwd)]);
}

/** Walks what the name may run instead of the usual program: an alias, or a copied, linked or hashed file. */
function runOtherMeanings(command: EffectiveCommand, around: CommandContext, runner: CommandRunner): void {
  const { scope, via } = around;
  const hidden = unknownEffect(command, around, runner.where);
  if (hidden !== null) runner.sign("unknown-effect", command.span, hidden);
  // A function that replaces a builtin runs in this shell and may change the directory.
  if (isRedefined(command, around) && isBuiltinName(command.called)) scope.move(() => UNKNOWN);
  if (via.length >= POLICY_NAMES_MAX_DEPTH) return;
  const alias = scope.expandsAliases ? scope.alias(command.called) : undefined;
  if (alias !== undefined) {
    const text = [alias, ...command.args.map((arg) => shellQuote(arg.text))].join(" ");
    // bash does not expand an alias again inside its own text: `alias ls='ls --color'`.
    scope.removeAlias(command.called);
    runner.runText(text, { ...inSameProcess(around, "alias"), stdin: around.stdin });
    scope.setAlias(command.called, alias);
  }
  const origin = scope.names.hashed.get(command.called) ?? originOf(command, around);
  if (origin === null) return;
  // A file of the same name that commands cannot write to is the usual program, which is judged anyway.
  const isWritable = command.cwds.some((cwd) =>
    isWritableByCommands(changeDirectory(origin, cwd), runner.where),
  );
  if (origin.endsWith(`/${command.called}`) && !isWritable) return;
  runner.runArgv([{ text: origin, span: command.span }, ...command.args], inSameProcess(around, "copy"));
}

/**
 * Walks the commands that this command runs, with the first of these functions that applies. Returns null if none
 * applies.
 */
function runInside(command: EffectiveCommand, around: CommandContext, runner: CommandRunner): Flow | null {
  return (
    runBuiltin(command, around, runner) ??
    runNacre(command, around, runner) ??
    runAgent(command, around, runner) ??
    runStarted(command, around, runner) ??
    runProgram(command, around, runner) ??
    runFile(command, around, runner)
  );
}

/**
 * Reports a program that is known only at run time. If the name is a glob, walks the dangerous programs that it may
 * match.
 */
function runUnknown(
  command: EffectiveCommand,
  first: Field,
  around: CommandContext,
  runner: CommandRunner,
): Flow {
  runner.sign("unknown-program", first.span, command.called);
  if (around.stdin.origins.includes("socket"))
    runner.sign("reverse-shell", first.span, "another host decides over a socket which program runs");
  for (const name of isUnresolved(command.called) ? [] : DESTROYERS) {
    if (couldMatch(command.program, name)) {
      runner.runArgv([{ ...first, text: name }, ...command.args], inSameProcess(around, "glob"));
    }
  }
  return flowOf(null);
}

const DESTROYERS = ["rm", "dd", "mv", "chmod", "chown", "shred", "mkfs", "reboot", "halt", "bash", "sh"];

function isDefinedName(called: string, { scope }: CommandContext): boolean {
  return (
    scope.functionNamed(called) !== undefined || (scope.expandsAliases && scope.alias(called) !== undefined)
  );
}

/** The names of GNU programs on BSD and macOS: `gln` is `ln`. */
const GNU =
  /^g(cat|chgrp|chmod|chown|cp|dd|head|install|link|ln|mkdir|mkfifo|mv|rmdir|shred|tail|tar|tee|touch|truncate|unlink|xargs|env|nice|nohup|stdbuf)$/;

const plainName = remembered((name) => GNU.exec(name)?.[1] ?? name);

function describe(argv: readonly Field[], around: CommandContext, where: Where): EffectiveCommand {
  const called = argv[0]?.text ?? "";
  return {
    program: plainName(called.slice(called.lastIndexOf("/") + 1)),
    called,
    isDefined: isDefinedName(called, around),
    args: argv.slice(1),
    assignments: visibleAssignments(called, around, where),
    redirects: around.redirects,
    cwds: around.scope.cwds,
    via: around.via,
    stdin: around.stdin,
    links: around.scope.made.links,
    substituted: around.substituted,
    span: around.span,
  };
}
