// Defines `nacre check`.
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { CheckOptions } from "../commands/check.ts";
import { hasDoubleDash, refuseLateOptions } from "../double-dash.ts";
import { cwdOption, policyFileOption, policyOption } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";
import { quoteArguments } from "../quote-arguments.ts";
import { settle } from "../settings.ts";

export function defineCheck(program: Command, { io, done, args }: ProgramOptions): void {
  program
    .command("check")
    .description("ask the policy about a command; runs nothing")
    .argument("[command...]", "one quoted line of bash, or a program and its arguments")
    .passThroughOptions()
    .option("--explain", "print every step to the verdict")
    .addOption(cwdOption(io.cwd, "the directory in which the command would run"))
    .option("--home <dir>", "judge for an ordinary user with this home directory")
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
    .action(async (operands: string[], options: Omit<CheckOptions, "command">, command: Command) => {
      if (options.jsonl && operands.length > 0)
        command.error("error: --jsonl reads commands from stdin: remove the command or --jsonl");
      const settled = await settle(command, options, resolve(io.cwd, options.cwd));
      if (options.jsonl) {
        const { checkLines } = await import("../commands/check-lines.ts");
        done(await checkLines(io, settled));
        return;
      }
      if (operands.length === 0) command.error("error: missing required argument 'command'");
      refuseLateOptions(command, args, operands);
      const areArguments = hasDoubleDash(args, operands);
      const { printCheck } = await import("../commands/check.ts");
      const text =
        operands.length > 1 || areArguments ? quoteArguments(operands) : (operands[0] ?? "").toWellFormed();
      done(printCheck(io, { ...settled, command: text }));
    });
}

const CHECK_HELP = `
Exit codes: 0 for allow, 3 for ask, 4 for deny. With --jsonl: 0, or 1 if a line is not a command.

Examples:
  nacre check 'rm -rf ~/projects'
  nacre check --explain 'cd src && sudo rm -r .'
  nacre check --policy cautious './install.sh'`;
