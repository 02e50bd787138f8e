// Defines tour, doctor, init and completion.
import type { Command } from "commander";
import type { HttpAddress } from "../../mcp/http-address.ts";
import { CLIENTS } from "../clients.ts";
import type { DoctorOptions } from "../commands/doctor.ts";
import type { InitOptions } from "../commands/init.ts";
import { SHELLS, type ShellName } from "../completion-scripts.ts";
import { createArgument, examples } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";

export function defineSetup(program: Command, options: ProgramOptions): void {
  defineDoctor(program, options);
  defineInit(program, options);
  defineCompletion(program, options);
  program
    .command("tour")
    .description("show what nacre does with a few real commands")
    .addHelpText("after", examples("tour"))
    .action(async () => {
      const { tour } = await import("../commands/tour.ts");
      options.done(await tour(options.io));
    });
}

function defineDoctor(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("doctor")
    .description("check this machine and say how to fix problems")
    .option("--json", "print the findings as one JSON object")
    .addHelpText(
      "after",
      `
Exit codes: 0 if commands can run, even with limitations; 1 if a problem must be fixed first.
${examples("doctor", "doctor --json")}`,
    )
    .action(async (options: DoctorOptions) => {
      const { examine } = await import("../commands/doctor.ts");
      done(await examine(io, options));
    });
}

function defineInit(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("init")
    .description("print the configuration for an MCP client, or write it to the client's file")
    .argument("<client>", `one of ${CLIENTS.map(({ name }) => name).join(", ")}`)
    .argument("[options...]", "options for nacre mcp, after --")
    .option("--write", "add the configuration to the file; keeps a copy of the file as .bak")
    .option("--user", "use the user's file instead of the project's")
    .addHelpText(
      "after",
      examples("init claude-code", "init codex --write --user", "init cursor --write -- --policy cautious"),
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

/** Checks the options now, because a server that rejects them could report that only in the client's log. */
function checkServerOptions(program: Command, options: readonly string[], init: Command): void {
  const mcp = program.commands.find((command) => command.name() === "mcp");
  const { operands = [], unknown = [] } = mcp?.parseOptions([...options]) ?? {};
  const [unexpected] = [...operands, ...unknown];
  if (unexpected !== undefined)
    init.error(`error: nacre mcp does not know '${unexpected}'. \`nacre mcp --help\` lists its options.`);
  const http: HttpAddress | undefined = mcp?.getOptionValue("http");
  if (http === undefined) return;
  const address = http.host.includes(":") ? `[${http.host}]:${http.port}` : http.port;
  init.error(
    `error: a client starts the server over stdio, so its entry cannot contain --http. Start \`nacre mcp --http ${address}\` yourself, and add an entry with the url and the token that it prints to the client's file: docs/mcp.md has an example.`,
  );
}

function defineCompletion(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("completion")
    .description("print the completion script for a shell")
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
    .argument("[words...]", "the command line after `nacre`")
    .action(async (words: string[]) => {
      const { printCandidates } = await import("../commands/complete.ts");
      done(printCandidates(io, program, words));
    });
}
