import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AuditLog } from "../../src/audit/audit-log.ts";
import { verifyAudit } from "../../src/audit/verify-audit.ts";
import type { NacreEvent } from "../../src/support/events.ts";
import { removeAfterRun } from "../fixtures/remove-after-run.ts";

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "nacre-test-"));
  file = join(dir, "audit.jsonl");
});
afterEach(() => removeAfterRun(dir));

const event = (args: unknown): NacreEvent => ({ type: "call", at: 1, tool: "Bash", arguments: args });

function write(...args: unknown[]): AuditLog {
  const log = new AuditLog(file);
  for (const value of args) log.write(event(value));
  log.close();
  return log;
}

const lines = () => readFileSync(file, "utf8").trimEnd().split("\n");
const put = (all: readonly string[]) => writeFileSync(file, all.map((line) => `${line}\n`).join(""));

describe("an audit log", () => {
  test("contains every event in order, one per line, and is valid", async () => {
    write("a", "b", "c");
    expect(lines().map((line) => JSON.parse(line).event.arguments)).toEqual(["a", "b", "c"]);
    expect(await verifyAudit(file)).toMatchObject({ ok: true, records: 3 });
  });

  test("is valid if several processes append to it, even at the same time", async () => {
    write("a", "b");
    const [one, two] = [new AuditLog(file), new AuditLog(file)];
    one.write(event("c"));
    two.write(event("d"));
    one.write(event("e"));
    expect(await verifyAudit(file)).toMatchObject({ ok: true, records: 5 });
    one.close();
    two.close();
  });

  test("is valid if two processes begin to write to an empty file at the same time", async () => {
    const [one, two] = [new AuditLog(file), new AuditLog(file)];
    one.write(event("a"));
    two.write(event("b"));
    expect(await verifyAudit(file)).toMatchObject({ ok: true, records: 2 });
    one.close();
    two.close();
  });

  test.each([
    ["a changed record", 2, (all: string[]) => all.map((line) => line.replace('"b"', '"B"'))],
    ["a removed record", 2, (all: string[]) => all.filter((line) => !line.includes('"b"'))],
    ["swapped records", 1, ([a = "", b = "", ...rest]: string[]) => [b, a, ...rest]],
    ["a repeated record", 2, ([a = "", ...rest]: string[]) => [a, a, ...rest]],
    ["a line of another program", 2, ([a = "", ...rest]: string[]) => [a, "{}", ...rest]],
    [
      "a repeated key",
      2,
      (all: string[]) => all.map((line) => line.replace(/"event":(?=.*"b")/, '"event":{},$&')),
    ],
    [
      "an added field",
      2,
      (all: string[]) => all.map((line) => line.replace(/(?="hash")(?=.*)(?<="b".*)/, '"note":"x",')),
    ],
    ["added spaces", 2, (all: string[]) => all.map((line) => line.replace(/:(?="b")/, ": "))],
    ["a missing beginning", 1, (all: string[]) => all.slice(1)],
  ])("names the first broken record: %s", async (_what, line, spoil) => {
    write("a", "b", "c");
    put(spoil(lines()));
    expect(await verifyAudit(file)).toMatchObject({ ok: false, line });
  });

  test("is reported as broken if its beginning was removed, even if another process then appends to it", async () => {
    write("a", "b");
    write("c");
    put(lines().slice(2));
    expect(await verifyAudit(file)).toMatchObject({ ok: false, line: 1 });
  });

  test("names a line that a crash truncated, and the lines after that line stay intact", async () => {
    write("a");
    appendFileSync(file, '{"writer":"x","se');
    write("b");
    expect(await verifyAudit(file)).toEqual({
      ok: false,
      line: 2,
      problem: "it is not a complete audit record",
    });
    expect(JSON.parse(lines()[2] ?? "").event.arguments).toBe("b");
  });

  test("does not throw if JSON cannot represent an event, and records it as unwritable", async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    write(cyclic, 1n, "after");
    expect(lines()).toHaveLength(3);
    expect(JSON.parse(lines()[0] ?? "").event.unwritable).toContain("circular");
    expect(await verifyAudit(file)).toMatchObject({ ok: true, records: 3 });
  });

  test("is valid if another process appends to it after a long record", async () => {
    write("x".repeat(300_000));
    write("b");
    expect(await verifyAudit(file)).toMatchObject({ ok: true, records: 2 });
  });

  test("stores any text: separators, quotes, lone surrogates", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "binary" })), async (texts) => {
        rmSync(file, { force: true });
        write(...texts, "\u2028\u2029\ud800");
        expect(await verifyAudit(file)).toMatchObject({ ok: true, records: texts.length + 1 });
      }),
      { numRuns: 50 },
    );
  });

  test("that cannot be opened causes an error that names the file", () => {
    expect(() => new AuditLog(join(dir, "missing", "audit.jsonl"))).toThrow(
      /The audit log .*missing\/audit\.jsonl cannot be opened: ENOENT/,
    );
  });
});
