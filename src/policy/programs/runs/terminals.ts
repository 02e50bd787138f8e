// Text that tmux and screen type into a terminal, or that bash's `bind` assigns to a key.

import type { CommandContext, EffectiveCommand, Field, Runner } from "../../shell-model/command.ts";
import { decodeEscapes } from "../../shell-model/decode-text.ts";
import { type Flow, flowOf } from "../../shell-model/flow.ts";
import { inSeparateProcess } from "../../shell-model/nested-context.ts";
import type { RunsCommand } from "../program-record.ts";
import { readOptions } from "../read-options.ts";

type TypesInto = (args: readonly Field[], inside: CommandContext, runner: Runner) => void;

const typing =
  (types: TypesInto): RunsCommand =>
  (command: EffectiveCommand, around: CommandContext, runner: Runner): Flow => {
    types(command.args, inSeparateProcess(around, command.program), runner);
    return flowOf(null);
  };

export const runTmux = typing(typeIntoTmux);
export const runScreen = typing(typeIntoScreen);
export const runBind = typing(bindKeys);

const RUNS =
  /^(new|new-session|neww|new-window|splitw|split-window|respawnp|respawn-pane|respawnw|respawn-window|run|run-shell|popup|display-popup|pipep|pipe-pane)$/;

function typeIntoTmux(args: readonly Field[], around: CommandContext, runner: Runner): void {
  const { operands } = readOptions(args, { values: "-cfLST" }, "at-operand");
  for (const [verb, ...rest] of commandsOf(operands)) {
    if (verb) runTmuxCommand(verb.text, rest, around, runner);
  }
}

function runTmuxCommand(verb: string, rest: readonly Field[], around: CommandContext, runner: Runner): void {
  const operandsOf = (values: string) => readOptions(rest, { values }, "at-operand").operands;
  if (RUNS.test(verb)) {
    // For display-popup, -h takes a height. For other commands, it is a flag.
    typed(operandsOf(/popup$/.test(verb) ? "-bcdehsStTwxy" : "-ceFlnstxy"), " ", around, runner);
  } else if (/^send(-keys)?$/.test(verb)) {
    const keys = operandsOf("-tN");
    typed(keys, keys.some(({ text }) => text === "Space") ? "" : " ", around, runner);
  } else if (/^if(-shell)?$/.test(verb)) {
    const [condition, ...commands] = operandsOf("-t");
    if (condition) runner.runText(condition.text, { ...around, span: condition.span });
    for (const { text, span } of commands) runner.runText(`tmux ${text}`, { ...around, span });
  } else if (/^(bind|bind-key|set-hook)$/.test(verb)) {
    const [, ...command] = operandsOf("-TNt");
    const [head] = command;
    if (head) runner.runArgv([{ ...head, text: "tmux" }, ...command], around);
  }
}

/** Splits the arguments of tmux at semicolons into commands. */
function commandsOf(args: readonly Field[]): readonly (readonly Field[])[] {
  const commands: Field[][] = [[]];
  for (const arg of args) {
    if (arg.text === ";") commands.push([]);
    else commands.at(-1)?.push(arg);
  }
  return commands;
}

const KEYS: Readonly<Record<string, string>> = { Enter: "\n", "C-m": "\n", "C-j": "\n", Space: " " };

function typed(keys: readonly Field[], between: string, around: CommandContext, runner: Runner): void {
  const [first] = keys;
  if (!first) return;
  const texts = keys.map(({ text }) => (Object.hasOwn(KEYS, text) ? (KEYS[text] ?? text) : text));
  runner.runText(texts.join(between), { ...around, span: first.span });
}

function typeIntoScreen(args: readonly Field[], around: CommandContext, runner: Runner): void {
  const options = readOptions(args, { values: "-ScepsthT" }, "at-operand");
  const [first, ...rest] = options.operands;
  if (!first) return;
  if (!options.flags.has("X")) runner.runArgv(options.operands, around);
  else if (/^(exec|screen)$/.test(first.text)) runner.runArgv(rest, around);
  else if (/^(stuff|eval|register)$/.test(first.text)) {
    for (const { text, span } of rest) {
      const inner = text.replace(/^\s*stuff\s+(["']?)(.*)\1\s*$/s, "$2");
      runner.runText(decodeEscapes(inner.replaceAll("^M", "\n")).replaceAll("\r", "\n"), { ...around, span });
    }
  }
}

/** Walks the command in `bind -x '"\C-a": command'`, or in a macro that types it: `bind '"\C-a": "command\n"'`. */
function bindKeys(args: readonly Field[], around: CommandContext, runner: Runner): void {
  const options = readOptions(args, { values: "-mquxrf" });
  const commands = options.values.get("x") ?? [];
  for (const { text, span } of [...commands, ...options.operands]) {
    const isCommand = commands.some((field) => field.span === span && field.text === text);
    const [, quoted, bare = ""] =
      /^\s*"(?:[^"\\]|\\.)*"\s*:?\s*(?:"((?:[^"\\]|\\.)*)"|(.*))$/s.exec(text) ?? [];
    if (quoted !== undefined)
      runner.runText(decodeEscapes(quoted.replace(/\\C-[mj]/g, "\n")), { ...around, span });
    else if (isCommand) runner.runText(bare, { ...around, span });
  }
}
