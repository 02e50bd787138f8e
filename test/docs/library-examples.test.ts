// The examples of the library are run as they are printed, by a plain `node example.mjs`, and waited for until their end.
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useCli } from "../cli/run-nacre.ts";
import { blocks, root } from "./pages.ts";

const { dir } = useCli();

const examples = blocks
  .filter(
    ({ language, lines }) =>
      language === "ts" && lines.some((line) => line.startsWith("import { createToolkit")),
  )
  .map(({ file, lines }) => [file, lines] as const);

test("README.md has one", () => {
  expect(examples.map(([file]) => file)).toContain("README.md");
});

test.each(examples)("the example in %s prints what its remarks say, and ends", (_file, lines) => {
  mkdirSync(join(dir(), "node_modules"));
  symlinkSync(root, join(dir(), "node_modules/nacre"));
  writeFileSync(join(dir(), "example.mjs"), lines.join("\n"));
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ["example.mjs"], {
    cwd: dir(),
    encoding: "utf8",
    timeout: 25_000,
  });
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: "" });
  const printing = lines.filter((line) => /^(?:console\.log|for await)\(?/.test(line));
  const remarks = printing.flatMap((line) => line.split("; // ")[1]?.split(":")[0] ?? []);
  for (const remark of remarks) expect(stdout.split("\n")).toContain(remark);
});
