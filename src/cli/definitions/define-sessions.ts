// Defines `nacre sessions`.
import type { Command } from "commander";
import { examples } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";

export function defineSessions(program: Command, { io, done }: ProgramOptions): void {
  const sessions = program
    .command("sessions")
    .description("list the named sessions of `nacre run --session`, or close some")
    .option("--json", "print them as one JSON object")
    .addHelpText("after", examples("sessions", "sessions close build"))
    .action(async (options: { readonly json?: boolean }) => {
      const { listNamedSessions } = await import("../commands/sessions.ts");
      done(listNamedSessions(io, options));
    });
  sessions
    .command("close")
    .description("forget the directory, variables and functions of these sessions")
    .argument("<name...>", "names of sessions")
    .option("--json", "print the result as one JSON object")
    .addHelpText(
      "after",
      `
Exit codes: 0 if all are closed, 1 if one does not exist or is in use.
${examples("sessions close build test")}`,
    )
    .action(async (names: string[], options: { readonly json?: boolean }) => {
      const { closeNamedSessions } = await import("../commands/sessions.ts");
      done(closeNamedSessions(io, names, options));
    });
}
