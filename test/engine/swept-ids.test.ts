import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { findSwept, recordSwept } from "../../src/engine/swept-ids.ts";
import { REMOVED_SHELL_IDS_MAX_COUNT } from "../../src/support/limits.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();
const idOf = (number: number) => `shell_${number.toString(16).padStart(8, "0")}`;

function newRoot(): StateRoot {
  const root = new StateRoot(join(directory(), "state"));
  root.ensure();
  return root;
}

test("a removed shell is found by its id and by the beginning of its id", () => {
  const root = newRoot();
  recordSwept(root, ["shell_0a0b0c0d", "shell_11223344"]);
  for (const text of ["shell_0a0b0c0d", "shell_0a", "0a0b"])
    expect(findSwept(root, text)).toBe("shell_0a0b0c0d");
  for (const text of ["", "shell_ff", "x", "shell_0a0b0c0d\n"]) expect(findSwept(root, text)).toBeUndefined();
});

test("the file is bounded and keeps the newest ids", () => {
  const root = newRoot();
  const all = Array.from({ length: 2 * REMOVED_SHELL_IDS_MAX_COUNT }, (_, i) => idOf(i));
  recordSwept(root, all);
  recordSwept(root, [idOf(all.length)]);
  const lines = readFileSync(join(root.path, "swept"), "latin1").split("\n").slice(0, -1);
  expect(lines).toHaveLength(REMOVED_SHELL_IDS_MAX_COUNT);
  expect(findSwept(root, idOf(all.length))).toBe(idOf(all.length));
  expect(findSwept(root, idOf(all.length - 1))).toBe(idOf(all.length - 1));
  expect(findSwept(root, idOf(0))).toBeUndefined();
});

test("lines that are not ids are ignored, and a missing root is not an error", () => {
  const root = newRoot();
  writeFileSync(join(root.path, "swept"), "shell_0a0b0c0\n../../etc\n\nshell_0a0b0c0d\nshell_1122");
  expect(findSwept(root, "shell_")).toBe("shell_0a0b0c0d");
  const missing = new StateRoot(join(directory(), "missing"));
  recordSwept(missing, ["shell_0a0b0c0d"]);
  expect(findSwept(missing, "shell_0a0b0c0d")).toBeUndefined();
});
