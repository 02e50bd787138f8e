// Runs the library examples unchanged with `node example.mjs`, and waits until they end.
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
      ["ts", "js"].includes(language) && lines.some((line) => line.startsWith("import { createToolkit")),
  )
  .map(({ file, lines }) => [file, lines] as const);

test("README.md has an example", () => {
  expect(examples.map(([file]) => file)).toContain("README.md");
});

test.each(examples)("the example in %s prints what its comments say, and ends", (_file, lines) => {
  mkdirSync(join(dir(), "node_modules"));
  symlinkSync(root, join(dir(), "node_modules/nacre"));
  symlinkSync(join(root, "node_modules/zod"), join(dir(), "node_modules/zod"));
  writeFileSync(join(dir(), "example.mjs"), lines.join("\n"));
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ["example.mjs"], {
    cwd: dir(),
    encoding: "utf8",
    timeout: 25_000,
  });
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: "" });
  const printing = lines.filter((line) => /^(?:console\.log|for await)\(?/.test(line));
  const comments = printing.flatMap((line) => line.split("; // ")[1]?.split(":")[0] ?? []);
  for (const comment of comments) expect(stdout.split("\n")).toContain(comment);
});
