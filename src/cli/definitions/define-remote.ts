// Defines `nacre serve`, `nacre fleet` and the option --remote.
import { Argument, type Command, Option } from "commander";
import { NacreError } from "../../support/errors.ts";
import type { FleetFlags } from "../commands/fleet-sandboxes.ts";
import type { ServeRemoteOptions } from "../commands/serve-remote.ts";
import { examples } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";

export function defineRemote(program: Command, { io, done, runLine = noLines }: ProgramOptions): void {
  // cli.ts has already read the option. This definition is for the help and for completion.
  program.option("--remote <url>", "run the command on another machine: ssh://host, docker://container, …");
  program
    .command("serve")
    .description("serve remote clients; nacre --remote starts it where it is needed")
    .addOption(new Option("--stdio", "connect stdin and stdout to the daemon").hideHelp())
    .addOption(
      new Option("--when-idle <what>", "what to do without a client").choices(["exit", "stay"]).hideHelp(),
    )
    .addHelpText(
      "after",
      `
Start it yourself only as the body of a batch job, which nacre --remote slurm://JOBID then uses.
${examples("serve")}`,
    )
    .action(async (options: Omit<ServeRemoteOptions, "runLine">) => {
      const { serveRemote } = await import("../commands/serve-remote.ts");
      done(await serveRemote(io, { ...options, runLine }));
    });
  program
    .command("fleet")
    .description("list the sandboxes that programs of this user have leased, or remove abandoned ones")
    .addArgument(
      new Argument("<action>", "ls: list them; clean: remove those whose program has ended").choices([
        "ls",
        "clean",
      ]),
    )
    .addOption(
      new Option(
        "--engine <name>",
        "only this engine (default: every engine whose client program is here)",
      ).choices(["docker", "kubernetes", "slurm"]),
    )
    .option("--namespace <name>", "the namespace of the pods")
    .option("--json", "print them as one JSON array")
    .addHelpText("after", examples("fleet ls", "fleet clean --engine docker"))
    .action(async (action: "ls" | "clean", options: FleetFlags) => {
      const { fleetSandboxes } = await import("../commands/fleet-sandboxes.ts");
      done(await fleetSandboxes(io, action, options));
    });
}

/** Without a runner for command lines, the daemon serves only toolkits and MCP. */
async function noLines(): Promise<number> {
  throw new NacreError("unavailable", "This daemon runs no command lines.");
}
