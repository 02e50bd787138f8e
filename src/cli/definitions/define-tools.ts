// Defines `nacre tools` and `nacre mcp`.
import { type Command, Option } from "commander";
import type { ServeOptions } from "../commands/serve-mcp.ts";
import type { ToolsOptions } from "../commands/tools.ts";
import {
  auditFileOption,
  dialectOption,
  examples,
  formatOption,
  onTimeoutOption,
  policyFileOption,
  policyOption,
  readAddress,
  readMs,
  shellProfileOption,
  withOption,
} from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";
import { settle } from "../settings.ts";
import { defineSandbox } from "./define-sandbox.ts";

export function defineTools(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("tools")
    .description("print the tool schemas in a provider's format")
    .addOption(dialectOption())
    .addOption(withOption())
    .addOption(formatOption())
    .addHelpText(
      "after",
      examples("tools --format anthropic", "tools --with files", "tools --dialect modes --format openai"),
    )
    .action(async (options: ToolsOptions, command: Command) => {
      const { printTools } = await import("../commands/tools.ts");
      done(printTools(io, await settle(command, options, io.cwd)));
    });
  const mcp = program
    .command("mcp")
    .description("serve the tools over MCP on stdin and stdout, or over HTTP")
    .addOption(dialectOption())
    .addOption(withOption())
    .addOption(policyOption())
    .addOption(policyFileOption(io.cwd))
    .addOption(auditFileOption(io.cwd))
    .option("--scope <name>", "share shells with other programs of the same scope")
    .option("--session <name>", "the name of the session that commands run in")
    .addOption(onTimeoutOption())
    .option("--durable", "let background shells outlive the server")
    .option("--approval-deadline <time>", "time to answer an approval request (default: 10m)", readMs)
    .addOption(shellProfileOption())
    .addOption(
      new Option(
        "--remote <url>",
        "run everything on another machine: ssh://host, docker://container, …",
      ).conflicts("http"),
    )
    .option("--http <port>", "serve over HTTP on this machine; 0 for any free port", readAddress)
    .option("--no-token", "over HTTP, accept every program and user of this machine")
    .addHelpText(
      "after",
      `
Clients start this command: \`nacre init CLIENT\` prints their configuration. NACRE_LOG=debug logs to stderr.

Over HTTP, clients need a token: one of those in NACRE_MCP_TOKEN (separated by spaces) or, if that is not set, a new
one that nacre prints to stderr. Clients with the same token share their shells.

Examples:
  nacre mcp
  nacre mcp --with files
  nacre mcp --policy cautious --durable
  nacre mcp --sandbox workspace-write --network full
  nacre mcp --http 7077`,
    )
    .action(async (options: ServeOptions, command: Command) => {
      const { serve } = await import("../commands/serve-mcp.ts");
      done(await serve(io, await settle(command, options, io.cwd)));
    });
  defineSandbox(mcp);
}
