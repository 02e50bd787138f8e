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
  const commands = program.createHelp().visibleCommands(program);
  const command = commands.find((one) => one.name() === before[0]);
  const names = commands.map((one) => ({ word: one.name(), meaning: one.description() }));
  if (!command) return before.length > 0 ? [] : [...names, ...optionsOf(program)];
  if (before.includes("--")) return [];
  const asking = takesValue(command, before.at(-1));
  if (asking) return (asking.argChoices ?? []).map((word) => ({ word, meaning: asking.description }));
  if (typed.startsWith("-")) return optionsOf(command);
  return command.name() === "help" ? names : argumentsOf(command);
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
