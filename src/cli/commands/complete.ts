// `nacre complete`: prints completion candidates for a command line, each followed by a tab and its meaning.
import type { Command, Option } from "commander";
import { COMPLETION_COMMAND_MAX_CHARS } from "../../support/limits.ts";
import type { CliIo } from "../cli-io.ts";
import { CLIENTS } from "../clients.ts";
import { oneLine } from "../columns.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager } from "../find-shell.ts";

interface Candidate {
  readonly word: string;
  readonly meaning: string;
}

/** The user is typing the last word, which can be empty. */
export function printCandidates(io: CliIo, program: Command, words: readonly string[]): number {
  const line = typedLine(words);
  for (const { word, meaning } of candidates(program, line.before, line)) {
    if (matches(word, line.typed)) io.stdout.write(`${line.prefix}${word}\t${meaning}\n`);
  }
  return EXIT.ok;
}

interface TypedLine {
  readonly before: readonly string[];
  readonly typed: string;
  /** `--option=` if the user is typing the option's value in the same word. */
  readonly prefix: string;
}

/** `--option=value` is one word in zsh and fish. bash passes three: the option, the equals sign and the value. */
function typedLine(words: readonly string[]): TypedLine {
  const isEqualsSign = (at: number) => words[at] === "=" && words[at - 1]?.startsWith("--") === true;
  const before = words.slice(0, -1).filter((_, at) => !isEqualsSign(at));
  const typed = isEqualsSign(words.length - 1) ? "" : (words.at(-1) ?? "");
  const [, option, value = ""] = /^(--[^=]+)=(.*)$/s.exec(typed) ?? [];
  if (option === undefined) return { before, typed, prefix: "" };
  return { before: [...before, option], typed: value, prefix: `${option}=` };
}

function candidates(
  program: Command,
  before: readonly string[],
  { typed, prefix }: Omit<TypedLine, "before">,
): Candidate[] {
  const [word, ...rest] = before;
  const names = commandsOf(program);
  if (word === undefined) return [...names, ...optionsOf(program)];
  const command = program.commands.find((one) => one.name() === word);
  // commander creates the help command only when it is used.
  if (word === "help") return names;
  if (!command || before.includes("--")) return [];
  if (command.commands.length > 0) return candidates(command, rest, { typed, prefix });
  const option = optionTakingValue(command, before.at(-1));
  if (option)
    return (option.argChoices ?? []).map((choice) => ({ word: choice, meaning: option.description }));
  if (prefix !== "") return [];
  return typed.startsWith("-") ? optionsOf(command) : argumentsOf(command);
}

function commandsOf(program: Command): Candidate[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .map((one) => ({ word: one.name(), meaning: one.description() }));
}

function optionTakingValue(command: Command, word: string | undefined): Option | undefined {
  return command.options.find((option) => (option.long === word || option.short === word) && option.required);
}

function optionsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long ? [{ word: long, meaning: description }] : []));
}

function argumentsOf(command: Command): Candidate[] {
  const [argument] = command.registeredArguments;
  if (argument?.argChoices) return argument.argChoices.map((word) => ({ word, meaning: "" }));
  if (argument?.name() === "client")
    return CLIENTS.map(({ name, title }) => ({ word: name, meaning: title }));
  return argument?.name() === "id" ? shells(command.name() === "kill") : [];
}

/** Shells, newest first; none if the state directory cannot be read. */
function shells(onlyRunning: boolean): Candidate[] {
  try {
    const all = readOnlyManager().findAll().reverse();
    return all
      .filter(({ isRunning }) => isRunning || !onlyRunning)
      .map(({ id, status, command }) => ({
        word: id,
        meaning: `${status}: ${oneLine(command, COMPLETION_COMMAND_MAX_CHARS)}`,
      }));
  } catch {
    return [];
  }
}

/** Ids also match without `shell_`. */
function matches(word: string, typed: string): boolean {
  return word.startsWith(typed) || (typed !== "" && word.startsWith(`shell_${typed}`));
}
