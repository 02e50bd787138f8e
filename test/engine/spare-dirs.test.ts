// Empty directories are reused instead of removed. A directory with files of another program is never removed
// or reused.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SpareDirs } from "../../src/engine/spare-dirs.ts";
import { SPARE_DIRECTORIES_MAX_COUNT } from "../../src/support/limits.ts";

let base = "";
const spareDir = () => join(base, "spare");
const inode = (path: string) => statSync(path).ino;

function makeDir(name: string): string {
  const path = join(base, name);
  mkdirSync(path, { mode: 0o700 });
  return path;
}

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "nacre-test-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

test("a kept directory is the next directory that a process takes, even a later process", () => {
  const old = makeDir("old");
  const kept = inode(old);
  expect(new SpareDirs(spareDir()).keep(old)).toBe(true);
  expect(existsSync(old)).toBe(false);
  const later = new SpareDirs(spareDir());
  expect(later.take(join(base, "new"))).toBe(true);
  expect(inode(join(base, "new"))).toBe(kept);
  expect(later.take(join(base, "another"))).toBe(false);
});

test("a directory with files, or with another mode, is not kept", () => {
  const full = makeDir("full");
  writeFileSync(join(full, "file"), "");
  const open = makeDir("open");
  chmodSync(open, 0o755);
  const spare = new SpareDirs(spareDir());
  expect([full, open, join(base, "missing")].map((path) => spare.keep(path))).toEqual([false, false, false]);
  expect(readdirSync(base).sort()).toEqual(["full", "open"]);
});

test("a spare directory that now contains a file is not handed out", () => {
  const spare = new SpareDirs(spareDir());
  spare.keep(makeDir("old"));
  writeFileSync(join(spareDir(), "0", "late"), "");
  expect(spare.take(join(base, "new"))).toBe(false);
  expect(existsSync(join(base, "new"))).toBe(false);
});

test("two processes never take the same directory", () => {
  const [one, other] = [new SpareDirs(spareDir()), new SpareDirs(spareDir())];
  one.keep(makeDir("old"));
  expect([one.take(join(base, "a")), other.take(join(base, "b"))]).toEqual([true, false]);
});

test("an existing directory with files is not replaced", () => {
  const spare = new SpareDirs(spareDir());
  spare.keep(makeDir("old"));
  writeFileSync(join(makeDir("target"), "file"), "");
  expect(spare.take(join(base, "target"))).toBe(false);
  expect(readdirSync(join(base, "target"))).toEqual(["file"]);
});

test("the number of spare directories is bounded across processes", () => {
  for (let round = 0; round < 2; round++) {
    const spare = new SpareDirs(spareDir());
    for (let index = 0; index <= SPARE_DIRECTORIES_MAX_COUNT; index++)
      spare.keep(makeDir(`d${round}-${index}`));
  }
  expect(readdirSync(spareDir())).toHaveLength(SPARE_DIRECTORIES_MAX_COUNT);
});
