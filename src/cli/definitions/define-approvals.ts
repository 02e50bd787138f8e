// Defines the commands for approval requests: approvals, approve, deny, forget.
import { type Command, Option } from "commander";
import type { AnswerFlags, ApprovalsOptions } from "../commands/answer-approvals.ts";
import { examples, readMs } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";

export function defineApprovals(program: Command, options: ProgramOptions): void {
  defineList(program, options);
  defineAnswers(program, options);
  defineForget(program, options);
}

function defineList(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("approvals")
    .description("list commands of agents that wait for your approval")
    .option("--remembered", "list your remembered answers instead")
    .option("--json", "print them as one JSON array")
    .addHelpText("after", examples("approvals", "approvals --remembered", "approvals --json"))
    .action(async (options: ApprovalsOptions) => {
      const { listApprovals } = await import("../commands/answer-approvals.ts");
      done(listApprovals(io, options));
    });
}

function defineAnswers(program: Command, { io, done }: ProgramOptions): void {
  for (const { answer, description, ownOptions, shown } of ANSWERS) {
    const command = program
      .command(answer)
      .description(description)
      .argument("<id>", "the id of a request, or a unique beginning of it");
    for (const [flags, meaning] of ownOptions) command.option(flags, meaning);
    command
      .addOption(rememberOption())
      .addOption(forOption())
      .addOption(pathsOption())
      .option("--json", "print the request as one JSON object")
      .addHelpText("after", `${ANSWER_HELP}\n${examples(...shown)}`)
      .action(async (id: string, options: AnswerFlags) => {
        checkRemember(command, options);
        const { answerApproval } = await import("../commands/answer-approvals.ts");
        done(answerApproval(io, answer, id, options));
      });
  }
}

function defineForget(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("forget")
    .description("remove remembered answers, so that nacre asks about such commands again")
    .argument("<id...>", "ids of remembered answers, or unique beginnings of them")
    .option("--json", "print the removed answers as one JSON array")
    .addHelpText("after", examples("approvals --remembered", "forget rem_1f2e3d4c"))
    .action(async (ids: string[], options: { readonly json?: boolean }) => {
      const { forgetAnswers } = await import("../commands/answer-approvals.ts");
      done(forgetAnswers(io, ids, options));
    });
}

function checkRemember(command: Command, { remember, for: forMs, paths }: AnswerFlags): void {
  if (remember === undefined && (forMs !== undefined || paths !== undefined))
    command.error(
      `error: ${forMs === undefined ? "--paths" : "--for"} needs --remember session or --remember workspace`,
    );
}

function rememberOption(): Option {
  return new Option(
    "--remember <for>",
    "also answer later commands with the same effect, in the same session or workspace",
  ).choices(["session", "workspace"]);
}

function forOption(): Option {
  return new Option("--for <time>", "with --remember: for how long: 30m, 2h (default: 8h)").argParser(readMs);
}

function pathsOption(): Option {
  return new Option(
    "--paths <which>",
    "with --remember: only the same paths, or all paths of the same class (default: exact)",
  ).choices(["exact", "class"]);
}

const ANSWER_HELP = `
The first answer counts, wherever it comes from. A call that is still waiting continues at once; otherwise the agent
repeats the same call. Exit codes: 0 if your answer counts, 1 if the request is unknown, expired or already answered.`;

const ANSWERS = [
  {
    answer: "approve",
    description: "let a command run that waits for your approval",
    ownOptions: [],
    shown: ["approve 1f2e", "approve 1f2e --remember session --for 2h"],
  },
  {
    answer: "deny",
    description: "refuse a command that waits for your approval",
    ownOptions: [["--reason <text>", "what the agent reads"]],
    shown: ["deny ask_1f2e3d4c", "deny 1f2e --reason 'Use a branch instead.'"],
  },
] as const;
