// Defines `nacre sessions`.
import type { Command } from "commander";
import { examples } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";

export function defineSessions(program: Command, { io, done }: ProgramOptions): void {
  const list = async (options: { readonly json?: boolean }) => {
    const { listNamedSessions } = await import("../commands/sessions.ts");
    done(listNamedSessions(io, options));
  };
  const sessions = program
    .command("sessions")
    .description("list the named sessions of `nacre run --session`, or close some")
    .option("--json", "print them as one JSON object")
    .addHelpText("after", examples("sessions", "sessions close build", "sessions close --all"))
    .action(list);
  sessions
    .command("list")
    .alias("ls")
    .description("the same as `nacre sessions`")
    .option("--json", "print them as one JSON object")
    .action(list);
  sessions
    .command("close")
    .description("forget the directory, variables and functions of these sessions")
    .argument("[name...]", "names of sessions")
    .option("--all", "all sessions that run no command")
    .option("--json", "print the result as one JSON object")
    .addHelpText(
      "after",
      `
Exit codes: 0 if all are closed, 1 if one does not exist or is in use.
${examples("sessions close build test")}`,
    )
    .action(
      async (
        names: string[],
        options: { readonly json?: boolean; readonly all?: boolean },
        command: Command,
      ) => {
        if ((names.length === 0) !== (options.all ?? false))
          command.error(
            options.all
              ? "--all closes every session. Omit the names."
              : "Name a session, or use --all. `nacre sessions` lists them.",
          );
        const { closeNamedSessions } = await import("../commands/sessions.ts");
        done(closeNamedSessions(io, names, options));
      },
    );
}
