// Checks that no record of an audit log was changed, and that no record before the last one is missing. The file alone
// does not show whether records at its end were removed.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { attempt } from "../support/attempt.ts";
import { fsPath } from "../support/path-text.ts";
import { type AuditRecord, hashIn, hashOf, lineOf } from "./audit-log.ts";

export type AuditCheck =
  | { readonly ok: true; readonly records: number; readonly lastHash: string }
  | { readonly ok: false; readonly line: number; readonly problem: string };

export async function verifyAudit(path: string): Promise<AuditCheck> {
  const chains = new Map<string, { seq: number; hash: string }>();
  const seen = new Set<string>();
  const lines = createInterface({
    input: createReadStream(fsPath(path)),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  let line = 0;
  let lastHash = "";
  for await (const text of lines) {
    line++;
    const record = recordIn(text);
    if (!record) return { ok: false, line, problem: "it is not a complete audit record" };
    // Reject repeated keys and extra fields: otherwise a reader could see an event that the hash does not cover.
    const problem =
      text === lineOf(record)
        ? problemOf(record, chains.get(record.writer), seen)
        : "it contains text that nacre did not write";
    if (problem) return { ok: false, line, problem };
    chains.set(record.writer, { seq: record.seq, hash: record.hash });
    lastHash = hashIn(text);
    seen.add(lastHash);
  }
  return { ok: true, records: line, lastHash };
}

function problemOf(
  record: AuditRecord,
  before: { readonly seq: number; readonly hash: string } | undefined,
  seen: ReadonlySet<string>,
): string | undefined {
  if (hashOf(record) !== record.hash) return "its content was changed: the hash does not match";
  if (!before) {
    if (record.seq !== 0) return `its writer's first ${record.seq} records are missing`;
    // Two writers can start at the same time in an empty file, so a writer's first record may have an empty `prev`,
    // whichever line it is on.
    return record.prev === "" || seen.has(record.prev)
      ? undefined
      : "the records before it are missing or changed";
  }
  if (record.seq !== before.seq + 1)
    return `it is record ${record.seq} of its writer, but record ${before.seq + 1} was expected`;
  if (record.prev !== before.hash) return "the record before it was replaced";
  return undefined;
}

function recordIn(text: string): AuditRecord | undefined {
  const found = attempt(() => JSON.parse(text) as Partial<AuditRecord> | null);
  const { writer, seq, prev, event, hash } = found ?? {};
  if (typeof writer !== "string" || typeof seq !== "number" || typeof prev !== "string") return undefined;
  if (typeof hash !== "string" || event === undefined) return undefined;
  return { writer, seq, prev, event, hash };
}
