// In each pair on docs/migration.md, the block for child_process and the block for nacre print the same text. `npm run
// newcomer` installs execa and runs the pair for execa.
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useCli } from "../cli/run-nacre.ts";
import { blocks, root } from "./pages.ts";

const { dir } = useCli();
const shown = blocks.filter(({ file, language }) => file === "docs/migration.md" && language === "js");
const pairs = shown
  .filter((_, index) => index % 2 === 0)
  .map((before, index) => [before.lines[0] ?? "", before.lines, shown[2 * index + 1]?.lines ?? []] as const);

test("each pair has a block for the other library, then one for nacre; one pair is for execa", () => {
  expect(pairs.length).toBeGreaterThan(5);
  for (const [first, , after] of pairs) {
    expect(first).toMatch(/from "(?:node:child_process|execa)"/);
    expect(after[0]).toBe('import { createToolkit } from "nacre";');
  }
  expect(pairs.filter(([first]) => first.includes("execa"))).toHaveLength(1);
});

test.each(pairs.filter(([first]) => !first.includes("execa")))(
  "both blocks print the same text: %s",
  (_first, before, after) => {
    mkdirSync(join(dir(), "node_modules"), { recursive: true });
    symlinkSync(root, join(dir(), "node_modules/nacre"));
    const printed = [before, after].map((lines, index) => {
      const file = join(dir(), `${index}.mjs`);
      writeFileSync(file, lines.join("\n"));
      const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
        cwd: dir(),
        encoding: "utf8",
        timeout: 60_000,
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      return stdout;
    });
    expect(printed[0]).not.toBe("");
    expect(printed[1]).toBe(printed[0]);
  },
);
