import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ShellManager } from "../../src/shell-manager.ts";
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

  test("shows the command's bash even if nacre's bash outside has the same command line", async () => {
    const other = new ShellManager({ stateRoot: join(world.outside, "other") });
    onTestFinished(() => other.dispose());
    await other.warmUp();
    const manager = world.manager({ sandbox: "workspace-write" });
    const again = '[[ $AGAIN ]] || AGAIN=1 exec -a bash "$BASH" "$0"';
    const command = `${again}; echo ready; sleep 1000; true`;
    const shell = await manager.createShell({ command, workingDir: newDirectory() });
    await shell.waitFor("ready", 20_000);
    const { processes } = await shell.why();
    expect(processes.map((process) => process.command.slice(0, 7)).sort()).toEqual(["bash -c", "sleep 1"]);
    await shell.kill({ graceMs: 0 });
  });

  // NACRE_LONG=1
  test.runIf(isLong)("is right in a hundred mixed runs", { timeout: 3_600_000 }, async () => {
    await checkMixed(world.manager({ sandbox: "workspace-write" }), 100, newDirectory);
  });
});
