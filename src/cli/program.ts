// The `nacre` command line: the program with all its commands from definitions/.
import { Command } from "commander";
import { HELP_DEFAULT_COLUMNS, HELP_MAX_COLUMNS } from "../support/limits.ts";
import { defineApprovals } from "./definitions/define-approvals.ts";
import { defineAudit } from "./definitions/define-audit.ts";
import { defineCheck } from "./definitions/define-check.ts";
import { defineConfig } from "./definitions/define-config.ts";
import { definePreview } from "./definitions/define-preview.ts";
import { defineRemote } from "./definitions/define-remote.ts";
import { defineRun } from "./definitions/define-run.ts";
import { defineSessions } from "./definitions/define-sessions.ts";
import { defineSetup } from "./definitions/define-setup.ts";
import { defineShells } from "./definitions/define-shells.ts";
import { defineTerminals } from "./definitions/define-terminals.ts";
import { defineTools } from "./definitions/define-tools.ts";
import { defineUi } from "./definitions/define-ui.ts";
import { packageVersion } from "./package-version.ts";
import type { ProgramOptions } from "./program-options.ts";

export function createProgram(options: ProgramOptions): Command {
  const { io } = options;
  const program = new Command("nacre")
    .description(
      "The shell that AI agents should have had: every call returns, nothing is lost, nothing escapes.",
    )
    .version(packageVersion(), "-v, --version", "print the version")
    .enablePositionalOptions()
    .exitOverride()
    .helpCommand("help [command]", "show help for a command")
    .configureHelp({
      helpWidth: Math.min(io.columns ?? HELP_DEFAULT_COLUMNS, HELP_MAX_COLUMNS),
      showGlobalOptions: false,
      // Without the alias: `ps`, not `ps|ls`.
      subcommandTerm: (command) =>
        [command.name(), command.usage().replace(/ ?\[command\]$/, "")]
          .filter((word) => word !== "")
          .join(" "),
    })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      // Print nothing here: the caller reports usage errors.
      outputError: () => {},
    })
    .addHelpText(
      "after",
      `
Examples:
  nacre run 'make test'            run it; output and exit code pass through
  nacre run -b 'npm run dev'       run it in the background; prints an id
  nacre ps                         list shells, including those of other programs
  nacre init claude-code           how to configure an agent

\`nacre help run\` explains one command. NACRE_HOME sets the directory that nacre stores shells in.`,
    );
  for (const { define } of definitionsFor(options.args[0])) define(program, options);
  return program;
}

interface CommandGroup {
  /** The commands of the group, with their aliases. */
  readonly names: readonly string[];
  readonly define: (program: Command, options: ProgramOptions) => void;
  /** Whether the group reads the definitions of other commands. */
  readonly needsAll?: true;
}

/** The help lists the commands in this order. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  { names: ["run"], define: defineRun },
  { names: ["ps", "ls", "output", "logs", "wait", "why", "kill", "clean"], define: defineShells },
  { names: ["send", "attach"], define: defineTerminals },
  { names: ["check"], define: defineCheck },
  { names: ["approvals", "approve", "deny", "forget"], define: defineApprovals },
  { names: ["ui"], define: defineUi },
  { names: ["tools", "mcp"], define: defineTools },
  { names: ["audit"], define: defineAudit },
  { names: ["sessions"], define: defineSessions },
  { names: ["config"], define: defineConfig },
  { names: ["preview", "undo"], define: definePreview },
  { names: ["serve", "fleet"], define: defineRemote },
  { names: ["tour", "doctor", "init", "completion", "complete"], define: defineSetup, needsAll: true },
];

/**
 * If the line begins with a command, defines only the group of that command: defining all commands takes milliseconds.
 * The help and the suggestion for an unknown command need all groups.
 */
function definitionsFor(command = ""): readonly CommandGroup[] {
  const own = COMMAND_GROUPS.find(({ names }) => names.includes(command));
  return own && !own.needsAll ? [own] : COMMAND_GROUPS;
}
