// The words of what helps a person to begin: tour.
import type { Command } from "commander";
import type { ProgramOptions } from "../program-options.ts";

export function addSetupWords(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("tour")
    .description("show in a few seconds what this does, with real commands")
    .action(async () => {
      const { tour } = await import("../commands/tour.ts");
      io.stdout.write(tour());
      done(0);
    });
}
