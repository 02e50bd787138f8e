// Defines `nacre audit`.
import type { Command } from "commander";
import { examples } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";

export function defineAudit(program: Command, { io, done }: ProgramOptions): void {
  const audit = program
    .command("audit")
    .description("work with an audit log (the option auditFile)")
    .addHelpText("after", examples("audit verify audit.jsonl"));
  audit
    .command("verify")
    .argument("<file>", "the log")
    .option("--json", "print one JSON object")
    .description("check that no record was changed or removed; name the first one that was")
    .addHelpText(
      "after",
      `
Exit codes: 0 if the log is intact, 1 if it is not or cannot be read.
${examples("audit verify audit.jsonl")}`,
    )
    .action(async (file: string, options: { readonly json?: boolean }) => {
      const { verifyLog } = await import("../commands/audit.ts");
      done(await verifyLog(io, file, options));
    });
}
