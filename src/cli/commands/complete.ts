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
  const before = words.slice(0, -1);
  const typed = words.at(-1) ?? "";
  for (const { word, meaning } of candidates(program, before, typed)) {
    if (fits(word, typed)) io.stdout.write(`${word}\t${meaning}\n`);
  }
  return EXIT.ok;
}

function candidates(program: Command, before: readonly string[], typed: string): Candidate[] {
  const [word, ...rest] = before;
  const names = commandsOf(program);
  if (word === undefined) return [...names, ...optionsOf(program)];
  const command = program.commands.find((one) => one.name() === word);
  // commander makes that one when it is needed.
  if (word === "help") return names;
  if (!command || before.includes("--")) return [];
  if (command.commands.length > 0) return candidates(command, rest, typed);
  const asking = takesValue(command, before.at(-1));
  if (asking) return (asking.argChoices ?? []).map((word) => ({ word, meaning: asking.description }));
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
