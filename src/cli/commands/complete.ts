// What could come next on the command line: a word, a tab and what it means, for the completion of shells.
import type { Command, Option } from "commander";
import type { CliIo } from "../cli-io.ts";
import { CLIENTS } from "../clients.ts";
import { EXIT } from "../exit-code.ts";
import { lookAtShells } from "../look.ts";
import { oneLine } from "../printable.ts";

interface Candidate {
  readonly word: string;
  readonly meaning: string;
}

/** The last word is the one that is being typed; it may be empty. */
export function printCandidates(io: CliIo, program: Command, words: readonly string[]): number {
  const line = typedLine(words);
  for (const { word, meaning } of candidates(program, line.before, line)) {
    if (fits(word, line.typed)) io.stdout.write(`${line.prefix}${word}\t${meaning}\n`);
  }
  return EXIT.ok;
}

interface TypedLine {
  readonly before: readonly string[];
  readonly typed: string;
  /** `--option=` where that is one word with what is typed of its value. */
  readonly prefix: string;
}

/** `--option=value` is one word to zsh and fish, and three to bash, the second of them the sign. */
function typedLine(words: readonly string[]): TypedLine {
  const isSign = (at: number) => words[at] === "=" && words[at - 1]?.startsWith("--") === true;
  const before = words.slice(0, -1).filter((_, at) => !isSign(at));
  const typed = isSign(words.length - 1) ? "" : (words.at(-1) ?? "");
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
  // commander makes that one when it is needed.
  if (word === "help") return names;
  if (!command || before.includes("--")) return [];
  if (command.commands.length > 0) return candidates(command, rest, { typed, prefix });
  const asking = takesValue(command, before.at(-1));
  if (asking) return (asking.argChoices ?? []).map((word) => ({ word, meaning: asking.description }));
  if (prefix !== "") return [];
  return typed.startsWith("-") ? optionsOf(command) : argumentsOf(command);
}

function commandsOf(program: Command): Candidate[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .map((one) => ({ word: one.name(), meaning: one.description() }));
}

function takesValue(command: Command, word: string | undefined): Option | undefined {
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

/** Newest first; without state there are none. */
function shells(onlyRunning: boolean): Candidate[] {
  try {
    const all = lookAtShells().findAll().reverse();
    return all
      .filter(({ isRunning }) => isRunning || !onlyRunning)
      .map(({ id, status, command }) => ({ word: id, meaning: `${status}: ${oneLine(command, 40)}` }));
  } catch {
    return [];
  }
}

/** Ids also by what follows their common beginning. */
function fits(word: string, typed: string): boolean {
  return word.startsWith(typed) || (typed !== "" && word.startsWith(`shell_${typed}`));
}
