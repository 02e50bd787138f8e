// Defines `nacre config`.
import { type Command, Option } from "commander";
import { NETWORK_ACCESS, SANDBOX_PROFILES } from "../../engine/confinement.ts";
import { auditFileOption, examples, policyOption, shellProfileOption, withOption } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";
import type { SettingValues } from "../setting-names.ts";

export function defineConfig(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("config")
    .description("print the effective settings and where each comes from")
    .addOption(policyOption())
    .addOption(new Option("--sandbox <profile>", "as for nacre run").choices(SANDBOX_PROFILES))
    .addOption(new Option("--network <access>", "as for nacre run").choices(NETWORK_ACCESS))
    .addOption(shellProfileOption())
    .addOption(withOption())
    .addOption(auditFileOption(io.cwd))
    .option("--json", "print them as one JSON object")
    .addHelpText(
      "after",
      `
Settings are in nacre/config.json in the XDG configuration directory, for example { "policy": "cautious" }.
The variables NACRE_POLICY, NACRE_SANDBOX, NACRE_NETWORK, NACRE_SHELL_PROFILE, NACRE_WITH, NACRE_REMOTES and
NACRE_AUDIT_FILE win over it, and flags over both. The file .nacre/config.json of a workspace can only make a setting
stricter, and cannot name an audit file.
${examples("config", "config --json")}`,
    )
    .action(async (options: SettingValues & { readonly json?: boolean }, command: Command) => {
      const { printConfig } = await import("../commands/config.ts");
      done(await printConfig(io, command, options));
    });
}
