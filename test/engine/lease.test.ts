import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { giveUp, readLease, takeOver } from "../../src/engine/lease.ts";
import type { ProcessIdentity } from "../../src/engine/process-table.ts";
import { type ShellFiles, StateRoot } from "../../src/engine/state-dir.ts";
import { useDirectories } from "../fixtures/directories.ts";
import { helper } from "../fixtures/marked.ts";
import { metaOf } from "../fixtures/metas.ts";

const directory = useDirectories();
const STARTER: ProcessIdentity = { pid: 100, startTime: "1" };
const SUCCESSOR: ProcessIdentity = { pid: 200, startTime: "2" };
const META = metaOf({ durable: true, host: STARTER });

function shellDir(): ShellFiles {
  const files = new StateRoot(directory()).files(META.id);
  mkdirSync(files.dir, { recursive: true });
  return files;
}

test("a shell is held by the host that started it", () => {
  expect(readLease(shellDir(), META)).toEqual({ number: 0, holder: STARTER, over: false });
});

test("a takeover makes another host the holder, and increments the number of the lease", () => {
  const files = shellDir();
  for (let number = 1; number <= 12; number++) {
    const me = { pid: 1_000 + number, startTime: String(number) };
    expect(takeOver(files, readLease(files, META), me, false)).toBe(true);
    expect(readLease(files, META)).toEqual({ number, holder: me, over: false });
  }
});

test("a takeover that is based on an outdated lease fails and changes nothing", () => {
  const files = shellDir();
  const seen = readLease(files, META);
  expect(takeOver(files, seen, SUCCESSOR, false)).toBe(true);
  expect(takeOver(files, seen, STARTER, false)).toBe(false);
  expect(readLease(files, META).holder).toEqual(SUCCESSOR);
});

test("a takeover of an ended shell marks the lease as over", () => {
  const files = shellDir();
  takeOver(files, readLease(files, META), SUCCESSOR, true);
  expect(readLease(files, META)).toEqual({ number: 1, holder: SUCCESSOR, over: true });
});

test("a takeover that cannot be written fails", () => {
  const files = shellDir();
  const seen = readLease(files, META);
  rmSync(files.dir, { recursive: true });
  expect(takeOver(files, seen, SUCCESSOR, false)).toBe(false);
  expect(() => readLease(files, META)).toThrow();
});

test("a shell that its holder gave up has no holder and can be taken over", () => {
  const files = shellDir();
  giveUp(files, META, STARTER);
  expect(readLease(files, META)).toEqual({ number: 1, holder: undefined, over: false });
  expect(takeOver(files, readLease(files, META), SUCCESSOR, false)).toBe(true);
});

test("a process cannot give up a shell that another process holds", () => {
  const files = shellDir();
  giveUp(files, META, SUCCESSOR);
  giveUp(files, META, { ...STARTER, startTime: "another process with that pid" });
  expect(readLease(files, META).holder).toEqual(STARTER);
  rmSync(files.dir, { recursive: true });
  expect(() => giveUp(files, META, STARTER)).not.toThrow();
});

test.each(["garbage", "12", "12 ", "a b", "12 34 later"])(
  "a takeover file with the text %j names no holder",
  (text) => {
    const files = shellDir();
    symlinkSync(text, join(files.dir, "owner.1"));
    expect(readLease(files, META)).toEqual({ number: 1, holder: undefined, over: false });
  },
);

test("other files in the directory do not count as takeovers", () => {
  const files = shellDir();
  for (const name of ["owner.", "owner.1x", "xowner.2", "owner", "out"])
    writeFileSync(join(files.dir, name), "");
  expect(readLease(files, META).number).toBe(0);
});

test("if several processes take over a shell at once, exactly one of them becomes the holder", async () => {
  const files = shellDir();
  const run = promisify(execFile);
  const start = Date.now() + 1_500;
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      run(process.execPath, [helper("take-over.mjs"), files.dir, String(start)]),
    ),
  );
  expect(answers.map(({ stdout }) => stdout.trim()).filter((word) => word === "won")).toHaveLength(1);
  expect(readdirSync(files.dir)).toEqual(["owner.1"]);
  expect(readlinkSync(join(files.dir, "owner.1"))).toMatch(/^\d+ 1$/);
});
