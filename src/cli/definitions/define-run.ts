// The words of `nacre run`.
import { type Command, Option } from "commander";
import type { RunFlags } from "../commands/run.ts";
import { haveDashes } from "../dashes.ts";
import {
  collectVariable,
  cwdOption,
  envModeOption,
  modeOption,
  policyFileOption,
  policyOption,
  readMs,
} from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";
import { addSandboxWords } from "../sandbox-words.ts";

export function addRunWords(program: Command, { io, done, words }: ProgramOptions): void {
  const run = program
    .command("run")
    .description("run a command; its output and exit code pass through")
    .argument("<command...>", "one quoted line of bash; or several words, each passed on as it is")
    .option("-b, --background", "start it, print its id and let it run on; it outlives this program")
    .option(
      "--timeout <time>",
      "end it after this time: 500ms, 30s, 5m; a plain number is milliseconds",
      readMs,
    )
    .addOption(modeOption())
    .addOption(cwdOption(io.cwd, "where to run it"))
    .addOption(
      new Option("--env <name=value>", "set a variable for it; may be given again")
        .argParser(collectVariable)
        .default({}, "none"),
    )
    .addOption(
      new Option(
        "--session <name>",
        "go on where the last command of this session left: directory, variables, functions",
      ),
    )
    .addOption(envModeOption())
    .option("--stdin", "let it read the stdin of nacre (without: nothing to read)")
    .addOption(policyOption())
    .addOption(policyFileOption(io.cwd))
    .option("--dry-run", "say what would be run, after asking the policy; run nothing")
    .option("--durable", "let it go on when this program is killed or its terminal closed")
    .option(
      "--json",
      "print the result as one JSON object (time is over after 120 s if --timeout says nothing)",
    )
    .addHelpText("after", RUN_HELP)
    .action(
      async (
        given: string[],
        options: Omit<RunFlags, "words" | "areArguments" | "isHere" | "namesEnvMode">,
        run: Command,
      ) => {
        const clash = clashIn(options);
        if (clash) run.error(`error: ${clash}`);
        if (given.every((word) => word.trim() === ""))
          run.error("error: the command is blank: there is nothing to run");
        const areArguments = haveDashes(words, given, run);
        const { executeRun } = await import("../commands/run.ts");
        const isHere = run.getOptionValueSource("cwd") === "default";
        const namesEnvMode = run.getOptionValueSource("envMode") !== "default";
        done(await executeRun(io, { ...options, words: given, areArguments, isHere, namesEnvMode }));
      },
    );
  addSandboxWords(run);
}

/** Words that do not go together, why, and what to do instead. */
function clashIn(words: ClashingWords): string | undefined {
  const { stdin, json, durable, session } = words;
  const background = words.background || words.mode === "background";
  if (stdin && background)
    return "--stdin cannot go with -b: a command that outlives this program cannot read what it is given. Write it to a file and let the command read that: nacre run -b 'wc -l <file'.";
  if (stdin && json)
    return "--stdin cannot go with --json: the tool whose result it prints gives its commands nothing to read. Write it to a file and let the command read that.";
  if (stdin && session !== undefined)
    return "--stdin cannot go with --session: the commands of a session have nothing to read. Write it to a file and let the command read that.";
  if (durable && !background && (json || session !== undefined))
    return `--durable cannot go with ${json ? "--json: the result is there when the command ends" : "--session: its bash ends with this program"}. Use -b: that outlives this program, and nacre wait and nacre output tell the rest.`;
  return undefined;
}

type ClashingWords = Pick<RunFlags, "stdin" | "json" | "durable" | "session" | "background" | "mode">;

const RUN_HELP = `
Ctrl-C interrupts the command with everything it started and kills what has not ended a second later;
a second Ctrl-C kills it at once.

Exit codes: the command's own, 128+n if signal n ended it; 3 if the policy wants a person to approve it and
no one did, 4 if it says no, 124 if the time was over, 1 if nacre could not run it, 2 for words that make
no sense.

Examples:
  nacre run 'make test && echo passed'
  nacre run -- grep -rn "two words" src     every word is one argument, whatever it holds
  nacre run --timeout 5m --cwd packages/api 'npm test'
  nacre run --session build 'cd api && export CI=1'   the next command of session build finds both
  nacre run -b 'npm run dev'                read it with \`nacre output ID\`, end it with \`nacre kill ID\`
  git diff | nacre run --stdin 'wc -l'
  nacre run --sandbox workspace-write --max-memory 2G 'npm test'
  nacre run --json 'ls'                     the result that an agent would get`;
