// Nested nacre calls. The inner command is judged like the text of `bash -c`. The nested call must not choose looser
// rules than those that apply to the outer command.

import { changeDirectory } from "../../paths/paths.ts";
import type { CommandContext, EffectiveCommand, Field, Runner } from "../../shell-model/command.ts";
import { type Flow, flowOf, NO_FLOW } from "../../shell-model/flow.ts";
import { isUnresolved, shown, UNKNOWN } from "../../shell-model/marks.ts";
import { inSameProcess, inSeparateProcess } from "../../shell-model/nested-context.ts";
import type { Scope } from "../../shell-model/script-scope.ts";
import { SETTING_VARIABLES } from "../../shell-model/variables.ts";
import { NACRE_OPTIONS } from "../agents.ts";
import { hasFlag, type Options, readOptions, valuesOf } from "../read-options.ts";
import { describeApprovalPageRequest } from "./approval-request.ts";
import { nacreArguments, nacreLikeOption } from "./nacre-arguments.ts";

/** Walks a nacre call, however nacre is started. Returns null for any other program. */
export function runNacre(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  const words = nacreArguments(command);
  if (words) return runCall(words, command, around, runner);
  const pageRequest = describeApprovalPageRequest(command);
  if (pageRequest !== null) runner.sign("loosens-policy", command.span, pageRequest);
  const option = nacreLikeOption(command);
  if (option !== null) {
    const detail = `${shown(command.program)} passes ${option}, which loosens the rules of nacre`;
    runner.sign("loosens-policy", command.span, detail);
  }
  return null;
}

function runCall(
  words: readonly Field[],
  command: EffectiveCommand,
  around: CommandContext,
  runner: Runner,
): Flow {
  const given = words[0]?.text === "--" ? words.slice(1) : words;
  const options = readOptions(given, NACRE_OPTIONS);
  const [verb, ...operands] = options.operands;
  const started = verb?.text === "run" ? startedBy(given) : null;
  const own = started ?? options;
  // With --dry-run nothing runs.
  if (hasFlag(own, "help version") || (started && hasFlag(own, "dry-run"))) return flowOf(null);
  const details = /^(run|mcp)$/.test(verb?.text ?? "") ? looserOptions(options, command, around, runner) : [];
  const risks = [
    describeRiskySubcommand(verb?.text ?? "", operands, options),
    describeRemoteRun(options),
  ].filter((one) => one !== null);
  for (const detail of [...details, ...risks]) runner.sign("loosens-policy", command.span, detail);
  if (command.program !== "nacre" && verb)
    for (const file of valuesOf(options, "audit-file")) appendTo(file, around, runner);
  if (!started) return flowOf(null);
  const call = { given, options: own, command };
  const inner = started.operands;
  // nacre refuses options after a command of one word, but the policy judges the command as if nacre accepted them.
  if (operands.length === 1 && inner.length > 1) runOperands(operands, call, around, runner);
  return runOperands(inner, call, around, runner);
}

/**
 * With --remote, this machine's rules, sandbox and approvals do not apply. A `command:` URL can run any program on this
 * machine.
 */
function describeRemoteRun(options: Options): string | null {
  const [url] = valuesOf(options, "remote");
  return url === undefined
    ? null
    : `nacre --remote ${shown(url.text)} runs commands outside the rules of this machine`;
}

/** Why this subcommand needs the user's approval, or null if it does not. */
function describeRiskySubcommand(
  verb: string,
  operands: readonly Field[],
  { flags }: Options,
): string | null {
  if (isUnresolved(verb)) return "the nacre command is known only at run time";
  if (/^(approve|deny|forget)$/.test(verb))
    return `nacre ${verb} answers an approval request that the user must answer`;
  if (/^(send|attach)$/.test(verb))
    return `nacre ${verb} types into a terminal without the checks of BashInput`;
  if (verb === "kill" && flags.has("all"))
    return "nacre kill --all ends the commands of every agent of this user";
  if (verb === "serve") return "nacre serve runs commands for every client of this user";
  if (verb === "fleet" && operands.some(({ text }) => text !== "ls"))
    return "nacre fleet clean removes sandboxes of other programs";
  if (verb === "init" && flags.has("write")) return "nacre init --write changes the settings of an agent";
  if (verb === "ui" && flags.has("control"))
    return "nacre ui --control answers approval requests that the user must answer";
  if (verb !== "mcp") return null;
  if (flags.has("no-token")) return "nacre mcp --no-token lets every user of the machine run commands";
  return operands.some(({ text }) => isUnresolved(text))
    ? "the options of nacre mcp are known only at run time"
    : null;
}

/**
 * Judges the write to the audit log as if nacre were called by its name. Only the program record of nacre describes
 * this effect, so the effect would be missing if a package manager started nacre.
 */
function appendTo(file: Field, around: CommandContext, runner: Runner): void {
  const word = (text: string): Field => ({ text, span: file.span });
  const inside = { ...inSeparateProcess(around, "nacre"), assignments: [] };
  runner.runArgv([word("nacre"), word("--audit-file"), file], inside);
}

/** The options of `nacre run`, and the words of the inner command. The options end at the first of these words. */
function startedBy(given: readonly Field[]): Options {
  const [, ...afterVerb] = readOptions(given, NACRE_OPTIONS, "at-operand").operands;
  return readOptions(afterVerb, NACRE_OPTIONS, "at-operand");
}

interface NacreCall {
  readonly given: readonly Field[];
  readonly options: Options;
  readonly command: EffectiveCommand;
}

/** A single operand is shell text. Several operands, or operands after `--`, are the argv of one command. */
function runOperands(
  operands: readonly Field[],
  { given, options, command }: NacreCall,
  around: CommandContext,
  runner: Runner,
): Flow {
  const [first] = operands;
  if (!first) return flowOf(null);
  const scope = around.scope.fork();
  const [directory] = valuesOf(options, "cwd");
  if (directory) scope.move((cwd) => changeDirectory(directory.text, cwd));
  // A named session starts where its last command ended.
  else if (options.flags.has("session")) scope.move(() => UNKNOWN);
  const stdin = options.flags.has("stdin") ? around.stdin : NO_FLOW;
  const inside = { ...inSameProcess(around, "nacre"), scope, stdin, assignments: [] };
  const variables = valuesOf(options, "env").flatMap(({ text, span }) => {
    const equal = text.indexOf("=");
    return equal > 0 ? [{ name: text.slice(0, equal), value: text.slice(equal + 1), span }] : [];
  });
  for (const { name, value } of variables) scope.assign(name, [value]);
  if (variables.length > 0) runner.runArgv([], { ...inside, assignments: variables });
  if (operands.length > 1 || given.some(({ text }) => text === "--")) return runner.runArgv(operands, inside);
  if (isUnresolved(first.text))
    runner.sign("hidden-code", first.span, `${command.program} runs text that is built at run time`);
  return runner.runText(first.text, { ...inside, span: first.span });
}

const STRICTNESS: readonly string[] = ["off", "trusting", "standard", "cautious"];

/** Options that make `nacre run` and `nacre mcp` use looser rules than those that apply to this command. */
function looserOptions(
  options: Options,
  { cwds, assignments, links }: EffectiveCommand,
  { scope }: CommandContext,
  { profile, isSandboxed, where }: Runner,
): readonly string[] {
  const found: string[] = [];
  for (const { text } of valuesOf(options, "policy")) {
    const rank = STRICTNESS.indexOf(text);
    if (rank < STRICTNESS.indexOf(profile))
      found.push(`nacre would run commands with --policy ${shown(text)}`);
  }
  for (const { text } of valuesOf(options, "policy-file"))
    found.push(`nacre would use the rules in ${shown(text)}`);
  for (const { text } of valuesOf(options, "audit-file"))
    found.push(`nacre would write its audit log to ${shown(text)}`);
  for (const { text } of valuesOf(options, "sandbox")) {
    if (!/^(read-only|workspace-write)$/.test(text))
      found.push(`nacre would run commands with --sandbox ${shown(text)}`);
  }
  for (const { text } of valuesOf(options, "writable")) {
    const inside = cwds.every((cwd) =>
      links.resolve(text, cwd, true).every((place) => /^(inside-)?workspace$|^temp$/.test(place.class)),
    );
    if (!inside) found.push(`nacre would let commands write to ${shown(text)}`);
  }
  if (options.flags.has("allow-unsandboxed")) found.push("nacre would run commands without a sandbox");
  if (isSandboxed) {
    const widened = ["git-config", "debuggers"].find((flag) => options.flags.has(flag));
    if (widened !== undefined) found.push(`nacre would widen the sandbox with --${widened}`);
    if (valuesOf(options, "network").some(({ text }) => text !== "none"))
      found.push("nacre would give commands network access");
  }
  const isSet = (name: string) =>
    assignments.some((one) => one.name === name) || scope.variable(name) !== undefined;
  for (const name of SETTING_VARIABLES.filter(isSet))
    found.push(`nacre would run commands with the settings in ${name}`);
  if (movesRules(assignments, scope, where.home))
    found.push("nacre would read its rules from another directory");
  return found;
}

/** Whether variables name another directory for the user's rules. */
function movesRules(assignments: EffectiveCommand["assignments"], scope: Scope, home: string): boolean {
  const homes = scope.variable("HOME")?.values ?? [];
  return (
    assignments.some(
      ({ name, value }) => name === "XDG_CONFIG_HOME" || (name === "HOME" && value !== home),
    ) ||
    scope.variable("XDG_CONFIG_HOME") !== undefined ||
    homes.some((value) => value !== home)
  );
}
