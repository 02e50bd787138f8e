// The words of `nacre check`.
import { type Command, Option } from "commander";
import type { CheckOptions } from "../commands/check.ts";
import { haveDashes } from "../dashes.ts";
import { cwdOption, policyFileOption, policyOption } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";
import { quoteWords } from "../quote.ts";

export function addPolicyWords(program: Command, { io, done, words }: ProgramOptions): void {
  program
    .command("check")
    .description("say what the policy thinks of a command; nothing is run")
    .argument("[command...]", "one quoted line of bash; or several words, each taken as it is")
    .option("--explain", "print the whole way to the verdict")
    .addOption(cwdOption(io.cwd, "where it would run"))
    .option("--home <dir>", "whose home it would run for, as an ordinary user")
    .addOption(policyOption())
    .addOption(policyFileOption(io.cwd))
    .option("--json", "print the verdict as one JSON object")
    .addOption(
      new Option("--jsonl", 'read lines {"command": …} from stdin, print a verdict for each').conflicts([
        "json",
        "explain",
      ]),
    )
    .addHelpText("after", CHECK_HELP)
    .action(async (given: string[], options: Omit<CheckOptions, "command">, command: Command) => {
      if (options.jsonl && given.length > 0)
        command.error("error: --jsonl reads commands from stdin: leave out the command, or --jsonl");
      if (options.jsonl) {
        const { checkLines } = await import("../commands/check-lines.ts");
        done(await checkLines(io, options));
        return;
      }
      if (given.length === 0) command.error("error: missing required argument 'command'");
      const areArguments = haveDashes(words, given, command);
      const { printCheck } = await import("../commands/check.ts");
      const text = given.length > 1 || areArguments ? quoteWords(given) : (given[0] ?? "").toWellFormed();
      done(printCheck(io, { ...options, command: text }));
    });
}

const CHECK_HELP = `
Exit codes: 0 allowed, 3 a person has to be asked, 4 denied. With --jsonl: 0, or 1 if a line was no command.

Examples:
  nacre check 'rm -rf ~/projects'
  nacre check --explain 'cd src && sudo rm -r .'
  nacre check --policy cautious './install.sh'`;
