// The words of `nacre tools` and `nacre mcp`: what agents get.
import type { Command } from "commander";
import type { ServeOptions } from "../commands/serve-mcp.ts";
import type { ToolsOptions } from "../commands/tools.ts";

import {
  dialectOption,
  formatOption,
  onTimeoutOption,
  policyFileOption,
  policyOption,
  readAddress,
} from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";
import { addSandboxWords } from "../sandbox-words.ts";

export function addToolsWords(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("tools")
    .description("print the tools as a provider wants them described, as JSON")
    .addOption(dialectOption())
    .addOption(formatOption())
    .addHelpText(
      "after",
      `
Examples:
  nacre tools --format anthropic
  nacre tools --dialect modes --format openai`,
    )
    .action(async (options: ToolsOptions) => {
      const { printTools } = await import("../commands/tools.ts");
      done(printTools(io, options));
    });
  const mcp = program
    .command("mcp")
    .description("serve the tools over MCP on stdin and stdout, or over HTTP")
    .addOption(dialectOption())
    .addOption(policyOption())
    .addOption(policyFileOption(io.cwd))
    .option("--scope <name>", "share shells with every program that gives the same name")
    .option("--session <name>", "what the session is called that commands run in")
    .addOption(onTimeoutOption())
    .option("--durable", "let background shells outlive the server")
    .option("--http <port>", "serve over HTTP on this machine; 0 for any port that is free", readAddress)
    .option(
      "--no-token",
      "over HTTP, let in every program that can reach the port, of every user of this machine",
    )
    .addHelpText(
      "after",
      `
A client starts this by itself: \`nacre init CLIENT\` prints what to configure. NACRE_LOG=debug logs to stderr.

Over HTTP clients need a token: one of those in NACRE_MCP_TOKEN (separated by spaces), or else a new one, which is
printed on stderr. Clients with the same token share their shells.

Examples:
  nacre mcp
  nacre mcp --policy cautious --durable
  nacre mcp --sandbox workspace-write --network full
  nacre mcp --http 7077`,
    )
    .action(async (options: ServeOptions) => {
      const { serve } = await import("../commands/serve-mcp.ts");
      done(await serve(io, options));
    });
  addSandboxWords(mcp);
}
