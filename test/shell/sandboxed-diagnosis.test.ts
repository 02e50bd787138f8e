import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkDiagnosis, checkMixed, DIAGNOSIS_CASES, explained } from "../fixtures/diagnosis-cases.ts";
import { isLong } from "../fixtures/long.ts";
import { describeSandboxed, useSandboxWorld } from "../fixtures/sandboxes.ts";

const world = useSandboxWorld();
let last = 0;

function newDirectory(): string {
  const dir = join(world.workspace, `d${++last}`);
  mkdirSync(dir);
  return dir;
}

describeSandboxed("a diagnosis of a sandboxed shell", () => {
  test.each(DIAGNOSIS_CASES)("names $name, and no process of the sandbox itself", async (one) => {
    const manager = world.manager({ sandbox: "workspace-write" });
    const [shell, found] = await explained(manager, one, newDirectory());
    checkDiagnosis(found, one);
    const { processes } = await shell.why();
    expect(processes.filter(({ command }) => /bwrap|nacre-/.test(command))).toEqual([]);
    await shell.kill({ graceMs: 0 });
  });

  // NACRE_LONG=1
  test.runIf(isLong)("is right in a hundred mixed runs", { timeout: 3_600_000 }, async () => {
    await checkMixed(world.manager({ sandbox: "workspace-write" }), 100, newDirectory);
  });
});
