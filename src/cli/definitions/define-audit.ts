// Defines `nacre audit`.
import type { Command } from "commander";
import type { VerifyFlags } from "../commands/audit.ts";
import { examples } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";

export function defineAudit(program: Command, { io, done }: ProgramOptions): void {
  const audit = program
    .command("audit")
    .description("work with an audit log (the option --audit-file)")
    .addHelpText("after", examples("audit verify audit.jsonl"));
  audit
    .command("verify")
    .argument("<file>", "the log")
    .option("--last-hash <hash>", "also check that the log still ends with the record that has this hash")
    .option("--json", "print one JSON object")
    .description("check that no record was changed, and that none before the last one is missing")
    .addHelpText(
      "after",
      `
The file alone does not show whether records were removed at its end. Keep the last hash that this command prints where
commands cannot write, and pass it to the next check of the same file before nacre writes to it again.

Exit codes: 0 if the log is intact, 1 if it is not or cannot be read.
${examples("audit verify audit.jsonl", "audit verify --last-hash HASH audit.jsonl")}`,
    )
    .action(async (file: string, options: VerifyFlags) => {
      const { verifyLog } = await import("../commands/audit.ts");
      done(await verifyLog(io, file, options));
    });
}
