import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AuditLog } from "../../src/audit/audit-log.ts";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();

function writeLog(): string {
  const file = join(dir(), "audit.jsonl");
  const log = new AuditLog(file);
  for (const tool of ["one", "two", "three"]) log.write({ type: "call", at: 1, tool, arguments: {} });
  log.close();
  return file;
}

test("an intact log is reported with its last hash", async () => {
  const file = writeLog();
  const { code, stdout } = await nacre("audit", "verify", file);
  expect(code).toBe(0);
  expect(stdout).toMatch(/audit\.jsonl is intact: 3 records; the last hash is [0-9a-f]{64}\n$/);
});

test("the first broken record is named, with exit code 1", async () => {
  const file = writeLog();
  writeFileSync(file, readFileSync(file, "utf8").replace("two", "TWO"));
  const { code, stdout } = await nacre("audit", "verify", file);
  expect(code).toBe(1);
  expect(stdout).toContain("is broken at line 2: its content was changed: the hash does not match");
  const json = await nacre("audit", "verify", "--json", file);
  expect(JSON.parse(json.stdout)).toMatchObject({ file, ok: false, line: 2 });
});

test("a missing log causes an error", async () => {
  const { code, stdout, stderr } = await nacre("audit", "verify", join(dir(), "none"));
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("nacre: The audit log cannot be read: ENOENT");
});

test("a directory is refused with a hint", async () => {
  const { code, stdout, stderr } = await nacre("audit", "verify", dir());
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toBe(`nacre: The audit log cannot be read: ${dir()} is a directory. Name the file in it.\n`);
});

test("if the last record is missing, only a check with --last-hash fails", async () => {
  const file = writeLog();
  const text = readFileSync(file, "utf8");
  const { hash } = JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
  expect((await nacre("audit", "verify", "--last-hash", hash, file)).code).toBe(0);
  writeFileSync(file, `${text.trimEnd().split("\n").slice(0, -1).join("\n")}\n`);
  expect((await nacre("audit", "verify", file)).code).toBe(0);
  const { code, stdout } = await nacre("audit", "verify", "--last-hash", hash, file);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /is broken at line 2: its last hash is [0-9a-f]{64}, not [0-9a-f]{64}: records were/,
  );
  const json = await nacre("audit", "verify", "--json", "--last-hash", hash, file);
  expect(JSON.parse(json.stdout)).toMatchObject({ file, ok: false, line: 2 });
  const { stdout: help } = await nacre("audit", "verify", "--help");
  expect(help).toContain("does not show whether records were removed at its end");
});
