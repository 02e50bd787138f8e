// The words of `nacre audit`.
import type { Command } from "commander";
import type { ProgramOptions } from "../program-options.ts";

export function addAuditWords(program: Command, { io, done }: ProgramOptions): void {
  const audit = program
    .command("audit")
    .description("look after an audit log (the option auditFile)")
    .addHelpText("after", "\nExamples:\n  nacre audit verify audit.jsonl");
  audit
    .command("verify")
    .argument("<file>", "the log")
    .option("--json", "print one JSON object")
    .description("whether every record is as it was written, or which is the first that is not")
    .addHelpText(
      "after",
      `
Exit code 0 if it is whole, 1 if it is not or cannot be read.

Examples:
  nacre audit verify audit.jsonl`,
    )
    .action(async (file: string, options: { readonly json?: boolean }) => {
      const { verifyLog } = await import("../commands/audit.ts");
      done(await verifyLog(io, file, options));
    });
}
