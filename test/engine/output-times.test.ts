import { appendFileSync, existsSync, readFileSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OutputMarks, OutputTimes } from "../../src/engine/output-times.ts";
import type { StartedShell } from "../../src/engine/started-shell.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();

function timesOf(text: string, size: number, createdAt = 1_000): OutputTimes {
  const dir = directory();
  writeFileSync(join(dir, "out"), "x".repeat(size));
  utimesSync(join(dir, "out"), 9, 9);
  writeFileSync(join(dir, "times"), text);
  return new OutputTimes(join(dir, "out"), join(dir, "times"), createdAt);
}

test("a byte gets the time of the first mark after it, or of the last write if no mark follows", () => {
  const times = timesOf("out 4 2000 1900\nerr 100 2100 0\nout 8 3000 2900\n", 10);
  expect([0, 3, 4, 7, 8, 9].map((offset) => times.at(offset)?.ms)).toEqual([
    2000, 2000, 3000, 3000, 9000, 9000,
  ]);
  expect(times.at(10)).toBeUndefined();
});

test("a time is exact if the previous mark or the previous sample is close", () => {
  const times = timesOf("out 4 1500 0\nout 8 60000 59500\nout 12 120000 0\n", 12);
  expect([0, 4, 8].map((offset) => times.at(offset)?.isExact)).toEqual([true, true, false]);
});

test("the output before a given time ends at the last mark before that time", () => {
  const times = timesOf("out 4 2000 0\nout 8 3000 0\n", 10);
  expect([0, 2000, 2001, 3001, 9001].map((ms) => times.offsetSince(ms))).toEqual([0, 0, 4, 8, 10]);
});

test("marks of a truncated file and incomplete lines are ignored, and times never decrease", () => {
  const times = timesOf("out 400 2000 0\nout 4 3000 0\nout 6 2500 0\nout 8 40", 6);
  expect(times.marks).toEqual([
    { size: 4, time: 3000, since: 0 },
    { size: 6, time: 3000, since: 0 },
  ]);
});

test("without marks, a byte gets the time of the file's last write, which is not exact", () => {
  expect(timesOf("", 3).at(0)).toEqual({ ms: 9000, isExact: false });
  expect(timesOf("", 0).at(0)).toBeUndefined();
});

function startedIn(dir: string, more: Partial<StartedShell["meta"]> = {}): StartedShell {
  const files = { ...new StateRoot(dir).files("shell_00000001"), times: join(dir, "times") };
  const own = { ...files, stdout: join(dir, "out"), stderr: join(dir, "err") };
  return { files: own, meta: { createdAt: Date.now(), ...more } } as StartedShell;
}

test("a sample adds one mark for each stream that has grown", () => {
  const dir = directory();
  // The shell is so young that no mark is skipped, even if all samples are in the same millisecond.
  const started = startedIn(dir, { createdAt: Date.now() + 10_000 });
  const marks = new OutputMarks();
  const lines = () => readFileSync(started.files.times, "utf8").split("\n").slice(0, -1);
  marks.sample(started);
  expect(existsSync(started.files.times)).toBe(false);
  appendFileSync(started.files.stdout, "abc");
  marks.sample(started);
  marks.sample(started);
  expect(lines()).toEqual([expect.stringMatching(/^out 3 \d{13} \d{13}$/)]);
  appendFileSync(started.files.stderr, "e");
  truncateSync(started.files.stdout, 1);
  marks.sample(started);
  expect(lines().slice(1)).toEqual([
    expect.stringMatching(/^out 1 \d+ \d+$/),
    expect.stringMatching(/^err 1 \d+ \d+$/),
  ]);
});

test("an old shell gets fewer marks", () => {
  const dir = directory();
  const started = startedIn(dir, { createdAt: Date.now() - 86_400_000 });
  const marks = new OutputMarks();
  for (let size = 1; size <= 100; size++) {
    writeFileSync(started.files.stdout, "x".repeat(size));
    marks.sample(started);
  }
  expect(readFileSync(started.files.times, "utf8")).toMatch(/^out 1 \d+ \d+\n$/);
});

test("a removed directory, a session's bash and a shell of another host get no marks and no error", () => {
  const dir = directory();
  const marks = new OutputMarks();
  writeFileSync(join(dir, "out"), "abc");
  marks.sample({ ...startedIn(dir), attached: true });
  marks.sample(startedIn(dir, { role: "session" }));
  expect(existsSync(join(dir, "times"))).toBe(false);
  marks.sample(startedIn(join(dir, "gone")));
});
