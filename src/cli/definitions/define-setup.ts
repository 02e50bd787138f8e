// The words of what helps a person to begin: tour, doctor, init, completion.
import type { Command } from "commander";
import { CLIENTS } from "../clients.ts";
import type { DoctorOptions } from "../commands/doctor.ts";
import type { InitOptions } from "../commands/init.ts";
import { SHELLS, type ShellName } from "../completion-scripts.ts";
import { createArgument } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";

export function addSetupWords(program: Command, options: ProgramOptions): void {
  addDoctor(program, options);
  addInit(program, options);
  addCompletion(program, options);
  program
    .command("tour")
    .description("show in a few seconds what this does, with real commands; `nacre` alone does the same")
    .addHelpText("after", "\nExamples:\n  nacre tour")
    .action(async () => {
      const { tour } = await import("../commands/tour.ts");
      options.done(await tour(options.io));
    });
}

function addDoctor(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("doctor")
    .description("say what works on this machine, what does not, and what to do about it")
    .option("--json", "print it as one JSON object")
    .addHelpText(
      "after",
      `
Exit codes: 0 if commands can run, also with limitations; 1 if something has to be repaired first.

Examples:
  nacre doctor
  nacre doctor --json`,
    )
    .action(async (options: DoctorOptions) => {
      const { examine } = await import("../commands/doctor.ts");
      done(await examine(io, options));
    });
}

function addInit(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("init")
    .description("print what to configure in a client of MCP, or write it into its file")
    .argument("<client>", `one of ${CLIENTS.map(({ name }) => name).join(", ")}`)
    .argument("[options...]", "options for nacre mcp, after --")
    .option("--write", "merge it into the file; what was there is kept beside it as .bak")
    .option("--user", "in the file of the user instead of the project in this directory")
    .addHelpText(
      "after",
      `
Examples:
  nacre init claude-code
  nacre init codex --write
  nacre init cursor --write -- --policy cautious`,
    )
    .action(
      async (
        client: string,
        serverOptions: string[],
        options: Omit<InitOptions, "client" | "serverOptions">,
        init: Command,
      ) => {
        checkServerOptions(program, serverOptions, init);
        const { initClient } = await import("../commands/init.ts");
        done(initClient(io, { ...options, client, serverOptions }));
      },
    );
}

/** A server that refuses its options would say so only in the log of a client. */
function checkServerOptions(program: Command, given: readonly string[], init: Command): void {
  const mcp = program.commands.find((command) => command.name() === "mcp");
  const { operands = [], unknown = [] } = mcp?.parseOptions([...given]) ?? {};
  const [odd] = [...operands, ...unknown];
  if (odd !== undefined)
    init.error(`error: nacre mcp does not know '${odd}'. \`nacre mcp --help\` lists its options.`);
}

function addCompletion(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("completion")
    .description("print what makes a shell complete the words of nacre")
    .addArgument(createArgument("<shell>", "which shell", SHELLS))
    .addHelpText(
      "after",
      `
Examples:
  source <(nacre completion bash)                                    in ~/.bashrc
  nacre completion zsh > "\${fpath[1]}/_nacre"                        once
  nacre completion fish > ~/.config/fish/completions/nacre.fish      once`,
    )
    .action(async (shell: ShellName) => {
      const { completionScript } = await import("../completion-scripts.ts");
      io.stdout.write(completionScript(shell));
      done(0);
    });
  program
    .command("complete", { hidden: true })
    .argument("[words...]", "what is on the command line behind `nacre`, after --")
    .action(async (words: string[]) => {
      const { printCandidates } = await import("../commands/complete.ts");
      done(printCandidates(io, program, words));
    });
}
