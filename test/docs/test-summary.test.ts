// What the scripts that run tests say of them: each test is counted once, and what was not run is named.
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useShells } from "../fixtures/shells.ts";
import { root } from "./pages.ts";

const { directory } = useShells();

const TESTS = `import { expect, test } from "vitest";
test("one that fails", () => expect(1).toBe(2));
test.skip("one that is skipped without a word", () => {});
test("one that is skipped with a reason", ({ skip }) => skip("there is none here"));
test("one that passes", () => expect(1).toBe(1));
let tries = 0;
test("one that passes at its second try", { retry: 1 }, () => expect(++tries).toBe(2));
`;
const BROKEN_HOOK = `import { beforeAll, test } from "vitest";
beforeAll(() => { throw new Error("broken"); });
test("one behind a broken hook", () => {});
`;

test.each(["", "true"])("what fails, is skipped or cannot be loaded counts once each (CI=%s)", (ci) => {
  const dir = directory();
  mkdirSync(join(dir, "test"));
  for (const name of ["node_modules", "scripts", "test/allowed-skips.json"])
    symlinkSync(join(root, name), join(dir, name));
  writeFileSync(join(dir, "test/a.test.ts"), TESTS);
  writeFileSync(join(dir, "test/b.test.ts"), 'import "./missing.ts";\n');
  writeFileSync(join(dir, "test/c.test.ts"), BROKEN_HOOK);
  const script = `import { runVitest } from ${JSON.stringify(join(root, "scripts/run-vitest.mjs"))};
console.log("\\n" + JSON.stringify(runVitest({ cwd: ${JSON.stringify(dir)}, words: [] })));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: dir,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], CI: ci },
  });
  const { passed, failed, skipped, status } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  expect({ passed, failed, status }).toEqual({ passed: 2, failed: 3, status: 1 });
  expect(stdout.match(/^passed only when tried again: .*\n.*/gm)).toEqual([
    "passed only when tried again: one that passes at its second try\n  before: expected 1 to be 2 // Object.is equality (a.test.ts:7)",
  ]);
  expect(skipped.map(({ name, why }: { name: string; why?: string }) => [name, why])).toEqual([
    ["one that is skipped without a word", undefined],
    ["one that is skipped with a reason", "there is none here"],
    ["one behind a broken hook", undefined],
  ]);
  for (const name of ["b", "c"])
    expect(stdout).toContain(`Broken outside of its tests, which may not have run: test/${name}.test.ts`);
  const forbidden = stdout.match(/^This must not be skipped here: /gm) ?? [];
  expect(forbidden).toHaveLength(ci === "" ? 0 : 3);
});
