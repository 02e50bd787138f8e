// Defines `nacre run`.
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { DEFAULT_TIMEOUT_MS, INTERRUPT_GRACE_MS } from "../../support/limits.ts";
import { fixedTime } from "../amounts.ts";
import type { RunFlags } from "../commands/run.ts";
import { hasDoubleDash, refuseLateOptions } from "../double-dash.ts";
import {
  auditFileOption,
  collectVariable,
  cwdOption,
  envModeOption,
  modeOption,
  policyFileOption,
  policyOption,
  readCount,
  readMs,
  shellProfileOption,
} from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";
import { settle } from "../settings.ts";
import { defineSandbox, readSize } from "./define-sandbox.ts";

export function defineRun(program: Command, { io, done, args }: ProgramOptions): void {
  const run = program
    .command("run")
    .description("run a command; passes its output and exit code through")
    .argument("<command...>", "one quoted line of bash, or a program and its arguments")
    .passThroughOptions()
    .option("-b, --background", "start it in the background and print its id; it outlives this program")
    .option("--name <name>", "with -b: a name to use instead of the id")
    .option("--terminal", "with -b: give it a terminal, for nacre attach and nacre send")
    .option("--rows <number>", "with --terminal: its height", readCount)
    .option("--cols <number>", "with --terminal: its width", readCount)
    .option(
      "--timeout <time>",
      "end it after this time: 500ms, 30s, 5m; a plain number is milliseconds",
      readMs,
    )
    .addOption(modeOption())
    .addOption(cwdOption(io.cwd, "the directory to run it in"))
    .addOption(
      new Option("--env <name=value>", "set a variable for it; repeatable")
        .argParser(collectVariable)
        .default({}, "none"),
    )
    .addOption(
      new Option("--session <name>", "continue this session with its directory, variables and functions"),
    )
    .addOption(envModeOption())
    .addOption(shellProfileOption())
    .option("--stdin", "connect stdin (default: stdin is empty)")
    .addOption(policyOption())
    .addOption(policyFileOption(io.cwd))
    .addOption(auditFileOption(io.cwd))
    .option("--dry-run", "ask the policy and print what would run; run nothing")
    .option("--preview", "write nothing to the directory; list what it would change (nacre preview)")
    .addOption(
      new Option(
        "--max-preview-size <size>",
        "with --preview: the maximum that it may write: 100M, 2G",
      ).argParser(readSize),
    )
    .option("--durable", "keep it running if this program is killed or its terminal closes")
    .option(
      "--json",
      `print the result as one JSON object; the default timeout is then ${fixedTime(DEFAULT_TIMEOUT_MS)}`,
    )
    .addHelpText("after", RUN_HELP)
    .action(
      async (
        operands: string[],
        options: Omit<RunFlags, "args" | "areArguments" | "isDefaultCwd" | "namesEnvMode">,
        run: Command,
      ) => {
        refuseLateOptions(run, args, operands);
        const conflict = conflictIn(options);
        if (conflict) run.error(`error: ${conflict}`);
        if (operands.every((operand) => operand.trim() === ""))
          run.error("error: the command is blank: there is nothing to run");
        const areArguments = hasDoubleDash(args, operands);
        const { executeRun } = await import("../commands/run.ts");
        const isDefaultCwd = run.getOptionValueSource("cwd") === "default";
        const namesEnvMode = run.getOptionValueSource("envMode") !== "default";
        const settled = await settle(run, options, resolve(io.cwd, options.cwd));
        done(await executeRun(io, { ...settled, args: operands, areArguments, isDefaultCwd, namesEnvMode }));
      },
    );
  defineSandbox(run);
}

/** Describes options that conflict, and what to do instead. */
function conflictIn(flags: ConflictingFlags): string | undefined {
  const { stdin, json, durable, session, name } = flags;
  const background = flags.background || flags.mode === "background";
  const wrongTerminal = terminalConflictIn(flags, background);
  if (wrongTerminal !== undefined) return wrongTerminal;
  if (name !== undefined && !background)
    return "--name needs -b: other commands cannot refer to a command in the foreground. Add -b, or remove --name.";
  if (name !== undefined && !/^[A-Za-z][A-Za-z0-9._-]{0,63}$/.test(name))
    return `--name ${JSON.stringify(name)} is not a valid name: use a letter, then letters, digits, dots, dashes and underscores, at most 64 in all.`;
  const preview = flags.preview ? previewConflict(flags, background) : undefined;
  if (preview !== undefined) return preview;
  if (stdin && background)
    return "--stdin does not work with -b: a command that outlives this program cannot read its stdin. Write the input to a file that the command reads: nacre run -b 'wc -l <file'.";
  if (stdin && json)
    return "--stdin does not work with --json: commands of the Bash tool have no stdin. Write the input to a file and let the command read it.";
  if (stdin && session !== undefined)
    return "--stdin does not work with --session: commands of a session have no stdin. Write the input to a file and let the command read it.";
  if (durable && !background && (json || session !== undefined))
    return `--durable does not work with ${json ? "--json: the result exists only when the command ends" : "--session: the session's bash ends with this program"}. Use -b, then nacre wait and nacre output.`;
  return undefined;
}

function terminalConflictIn(
  { terminal, rows, cols }: ConflictingFlags,
  background: boolean,
): string | undefined {
  if (terminal && !background)
    return "--terminal needs -b: the command then runs in the background, and nacre attach shows its terminal.";
  if (!terminal && (rows !== undefined || cols !== undefined))
    return "--rows and --cols need --terminal: they are the size of its terminal.";
  return undefined;
}

function previewConflict({ durable }: ConflictingFlags, background: boolean): string | undefined {
  if (background)
    return "--preview does not work with -b: the effects of a command are known when it has ended. Leave one of them out.";
  if (durable)
    return "--preview does not work with --durable: a preview ends with this program. Leave one of them out.";
  return undefined;
}

type ConflictingFlags = Pick<
  RunFlags,
  | "stdin"
  | "json"
  | "durable"
  | "session"
  | "background"
  | "mode"
  | "name"
  | "terminal"
  | "rows"
  | "cols"
  | "preview"
>;

const RUN_HELP = `
Ctrl-C interrupts the command and everything it started, and kills what is left after ${fixedTime(INTERRUPT_GRACE_MS)}. A
second Ctrl-C kills at once.

Exit codes: the command's own; 128+n if signal n ended it; 3 if the policy requires approval and no person
approved; 4 if the policy denies it; 124 if it timed out; 1 if nacre could not run it; 2 for a usage error.

nacre's options go before the command; everything after its first word belongs to the command.

Examples:
  nacre run 'make test && echo passed'
  nacre run grep -rn "two words" src        a program and its arguments; bash expands nothing
  nacre run --timeout 5m --cwd packages/api 'npm test'
  nacre run --session build 'cd api && export CI=1'   the next command of session build keeps both
  nacre run -b --name dev 'npm run dev'     then: nacre output dev, nacre kill dev
  nacre run -b --terminal 'npm init'        then: nacre attach ID
  nacre run -b 'npm run dev'                read it with \`nacre output ID\`, end it with \`nacre kill ID\`
  git diff | nacre run --stdin 'wc -l'
  nacre run --sandbox workspace-write --max-memory 2G 'npm test'
  nacre run --preview 'rm -rf build'        what it would change; nacre preview commit ID writes it
  nacre run --json 'ls'                     the result that an agent gets`;
