// `nacre audit verify FILE`: checks an audit log and reports the first line that shows a changed or missing record.
import { statSync } from "node:fs";
import { type AuditCheck, verifyAudit } from "../../audit/verify-audit.ts";
import { messageOf, NacreError } from "../../support/errors.ts";
import { fsPath, shownPath, wirePath } from "../../support/path-text.ts";
import { printable } from "../../support/printable.ts";
import { counted } from "../amounts.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../print.ts";

export interface VerifyFlags {
  readonly json?: boolean;
  readonly lastHash?: string;
}

export async function verifyLog(
  io: CliIo,
  file: string,
  { json = false, lastHash }: VerifyFlags,
): Promise<number> {
  let check: AuditCheck;
  try {
    // Check this first, because the error EISDIR would not name the file.
    if (statSync(fsPath(file)).isDirectory())
      throw new Error(`${shownPath(file)} is a directory. Name the file in it.`);
    check = withLastHash(await verifyAudit(file), lastHash);
  } catch (error) {
    throw new NacreError("invalid_input", `The audit log cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (json) printJson(io, { file: wirePath(file), ...check });
  else if (check.ok) {
    const { records, lastHash } = check;
    io.stdout.write(
      records === 0
        ? `${shownPath(file)} has no records. If nacre has written to it, they were removed.\n`
        : `${shownPath(file)} is intact: ${counted(records, "record")}; the last hash is ${lastHash}\n`,
    );
  } else io.stdout.write(`${shownPath(file)} is broken at line ${check.line}: ${check.problem}\n`);
  return check.ok ? EXIT.ok : EXIT.failed;
}

/** Fails if the log does not end with the record that has this hash. */
function withLastHash(check: AuditCheck, expected: string | undefined): AuditCheck {
  if (!check.ok || expected === undefined || check.lastHash === expected.toLowerCase()) return check;
  const end = check.records === 0 ? "it has no records" : `its last hash is ${check.lastHash}`;
  const problem = `${end}, not ${printable(expected)}: records were removed at the end, or added`;
  return { ok: false, line: check.records, problem };
}
