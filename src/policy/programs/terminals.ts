// What is typed into a terminal or waits there for a key: tmux, screen, and bash's own bind.

import type { CommandContext, EffectiveCommand, Field, Runner } from "../shell-model/command.ts";
import { decodeEscapes } from "../shell-model/decode-text.ts";
import { type Flow, flowOf } from "../shell-model/flow.ts";
import { readOptions } from "./argv.ts";
import { elsewhere } from "./deferred.ts";

export function runTerminal(command: EffectiveCommand, around: CommandContext, runner: Runner): Flow | null {
  if (!/^(tmux|screen|bind)$/.test(command.program)) return null;
  const inside = elsewhere(command, around);
  if (command.program === "tmux") runTmux(command.args, inside, runner);
  else if (command.program === "screen") runScreen(command.args, inside, runner);
  else runBind(command.args, inside, runner);
  return flowOf(null);
}

const RUNS =
  /^(new|new-session|neww|new-window|splitw|split-window|respawnp|respawn-pane|respawnw|respawn-window|run|run-shell|popup|display-popup|pipep|pipe-pane)$/;

function runTmux(args: readonly Field[], around: CommandContext, runner: Runner): void {
  const { operands } = readOptions(args, { values: "cfLST", stopAtOperand: true });
  for (const [verb, ...rest] of commandsOf(operands)) {
    if (verb) runTmuxCommand(verb.text, rest, around, runner);
  }
}

function runTmuxCommand(verb: string, rest: readonly Field[], around: CommandContext, runner: Runner): void {
  const operandsOf = (values: string) => readOptions(rest, { values, stopAtOperand: true }).operands;
  if (RUNS.test(verb)) {
    // -h is a height for a popup, and no more than a direction elsewhere.
    typed(operandsOf(/popup$/.test(verb) ? "bcdehsStTwxy" : "ceFlnstxy"), " ", around, runner);
  } else if (/^send(-keys)?$/.test(verb)) {
    const keys = operandsOf("tN");
    typed(keys, keys.some(({ text }) => text === "Space") ? "" : " ", around, runner);
  } else if (/^if(-shell)?$/.test(verb)) {
    const [condition, ...commands] = operandsOf("t");
    if (condition) runner.runText(condition.text, { ...around, span: condition.span });
    for (const { text, span } of commands) runner.runText(`tmux ${text}`, { ...around, span });
  } else if (/^(bind|bind-key|set-hook)$/.test(verb)) {
    const [, ...command] = operandsOf("TNt");
    const [head] = command;
    if (head) runner.runArgv([{ ...head, text: "tmux" }, ...command], around);
  }
}

/** tmux takes several commands at once, apart by a semicolon of their own. */
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

function runScreen(args: readonly Field[], around: CommandContext, runner: Runner): void {
  const options = readOptions(args, { values: "ScepsthT", stopAtOperand: true });
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

/** `bind -x '"\C-a": command'`, and a macro that types a command: `bind '"\C-a": "command\n"'`. */
function runBind(args: readonly Field[], around: CommandContext, runner: Runner): void {
  const options = readOptions(args, { values: "mquxrf" });
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
