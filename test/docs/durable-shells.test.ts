// The two programs in "Durable shells" of docs/shells.md, in two processes: the second finds the shell of the first.
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useCli } from "../cli/run-nacre.ts";
import { blocks, root } from "./pages.ts";

const { dir } = useCli();
const SHOWN_ID = /shell_[0-9a-f]{8}/;

const programs = blocks
  .filter(({ file, lines }) => file === "docs/shells.md" && lines.some((line) => SHOWN_ID.test(line)))
  .map(({ lines }) => ['import { createToolkit } from "nacre";', ...lines].join("\n"));

test("a second process finds a durable shell by its id, reads its output and ends it", () => {
  const [first = "", second = ""] = programs;
  expect(programs).toHaveLength(2);
  const id = run("first.mjs", first).trim();
  expect(id).toMatch(/^shell_[0-9a-f]{8}$/);
  expect(run("second.mjs", second.replaceAll(new RegExp(SHOWN_ID, "g"), id))).toMatch(
    /^Status: running$[\s\S]*^listening$/m,
  );
});

function run(name: string, program: string): string {
  mkdirSync(join(dir(), "node_modules"), { recursive: true });
  if (name === "first.mjs") symlinkSync(root, join(dir(), "node_modules/nacre"));
  writeFileSync(join(dir(), name), program);
  const { status, stdout, stderr } = spawnSync(process.execPath, [name], {
    cwd: dir(),
    encoding: "utf8",
    timeout: 25_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}
