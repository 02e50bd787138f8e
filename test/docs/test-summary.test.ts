// The summary of the test scripts: it counts each test once and lists each test that did not run.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useShells } from "../fixtures/shells.ts";
import { root } from "./pages.ts";

const { directory } = useShells();

const TESTS = `import { expect, test } from "vitest";
test("one that fails", () => expect(1).toBe(2));
test.skip("one that is skipped without a reason", () => {});
test("one that is skipped with a reason", ({ skip }) => skip("there is none here"));
test("one that passes", () => expect(1).toBe(1));
let tries = 0;
test("one that passes on retry", { retry: 1 }, () => expect(++tries).toBe(2));
`;
const BROKEN_HOOK = `import { beforeAll, test } from "vitest";
beforeAll(() => { throw new Error("broken"); });
test("one after a failed hook", () => {});
`;

test.each(["", "true"])("failed, skipped and broken tests count once each (CI=%s)", (ci) => {
  const dir = directory();
  mkdirSync(join(dir, "test"));
  for (const name of ["node_modules", "scripts", "test/allowed-skips.json"])
    symlinkSync(join(root, name), join(dir, name));
  writeFileSync(join(dir, "test/a.test.ts"), TESTS);
  writeFileSync(join(dir, "test/b.test.ts"), 'import "./missing.ts";\n');
  writeFileSync(join(dir, "test/c.test.ts"), BROKEN_HOOK);
  const script = `import { runVitest } from ${JSON.stringify(join(root, "scripts/run-vitest.mjs"))};
console.log("\\n" + JSON.stringify(runVitest({ cwd: ${JSON.stringify(dir)}, args: [] })));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: dir,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], CI: ci },
  });
  const { passed, failed, skipped, status } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  expect({ passed, failed, status }).toEqual({ passed: 2, failed: 3, status: 1 });
  expect(stdout.match(/^passed only on retry: .*\n.*/gm)).toEqual([
    "passed only on retry: one that passes on retry\n  before: expected 1 to be 2 // Object.is equality (a.test.ts:7)",
  ]);
  expect(skipped.map(({ name, why }: { name: string; why?: string }) => [name, why])).toEqual([
    ["one that is skipped without a reason", undefined],
    ["one that is skipped with a reason", "there is none here"],
    ["one after a failed hook", undefined],
  ]);
  for (const name of ["b", "c"])
    expect(stdout).toContain(`Failed outside its tests, which may not have run: test/${name}.test.ts`);
  const forbidden = stdout.match(/^Must not be skipped here: /gm) ?? [];
  expect(forbidden).toHaveLength(ci === "" ? 0 : 3);
});

test("every allowed skip names a test that exists", () => {
  const allowed: { name: string }[] = JSON.parse(readFileSync(join(root, "test/allowed-skips.json"), "utf8"));
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const sources = files
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(root, "test", name), "utf8"))
    .join("\n");
  expect(allowed.map(({ name }) => name).filter((name) => !sources.includes(name))).toEqual([]);
});
