// The words of the command line: one program, its commands in words/, and how mistakes are told.
import { Command } from "commander";
import { addAuditWords } from "./definitions/define-audit.ts";
import { addPolicyWords } from "./definitions/define-policy.ts";
import { addRunWords } from "./definitions/define-run.ts";
import { addSetupWords } from "./definitions/define-setup.ts";
import { addShellsWords } from "./definitions/define-shells.ts";
import { addToolsWords } from "./definitions/define-tools.ts";
import { packageVersion } from "./package-version.ts";
import type { ProgramOptions } from "./program-options.ts";

export function createProgram(options: ProgramOptions): Command {
  const { io } = options;
  const program = new Command("nacre")
    .description(
      "The shell that AI agents should have had: every call returns, nothing is lost, nothing escapes.",
    )
    .version(packageVersion())
    .exitOverride()
    .helpCommand("help [command]", "show help for a command")
    .configureHelp({ helpWidth: Math.min(io.columns ?? 100, 120), showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      // Written by the caller, which knows what kind of mistake it is.
      outputError: () => {},
    })
    .addHelpText(
      "after",
      `
Examples:
  nacre run 'make test'            run it; output and exit code pass through
  nacre run -b 'npm run dev'       run it in the background; prints an id
  nacre ps                         what runs, also what other programs of yours started
  nacre init claude-code           how to give it to an agent

\`nacre help run\` says more about one command. NACRE_HOME names the directory that shells are kept in.`,
    );
  addRunWords(program, options);
  addShellsWords(program, options);
  addPolicyWords(program, options);
  addToolsWords(program, options);
  addAuditWords(program, options);
  addSetupWords(program, options);
  return program;
}
