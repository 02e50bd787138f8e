import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DiagnosisSampler } from "../../src/shell/diagnosis.ts";
import { checkDiagnosis, checkMixed, DIAGNOSIS_CASES, explained } from "../fixtures/diagnosis-cases.ts";
import { isLong } from "../fixtures/long.ts";
import { useShells } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { manager, directory } = useShells();
const { tools } = useTools();

describe("a diagnosis", () => {
  test.each(DIAGNOSIS_CASES)("names $name", async (one) => {
    const [shell, found] = await explained(manager(), one, directory());
    checkDiagnosis(found, one);
    if (one.name === "accept") expect(found.ports).toHaveLength(1);
    await shell.kill({ graceMs: 0 });
  });

  test("reports how long a command has been silent and its processor time", async () => {
    const shell = await manager().createShell({ command: "echo x; sleep 300", workingDir: directory() });
    await shell.waitFor("x", 20_000);
    const { silent_ms, processes } = await shell.why();
    expect(silent_ms).toBeGreaterThanOrEqual(900);
    expect(processes.every(({ cpu_ms }) => cpu_ms >= 0)).toBe(true);
    await shell.kill({ graceMs: 0 });
    expect((await shell.why()).processes).toEqual([]);
  });
});

test("a sample that was taken during the kill is dropped", async () => {
  const own = { pid: process.pid, startTime: "0", group: process.pid, command: "own" };
  let found = [own];
  const sampler = new DiagnosisSampler({ processes: async () => found, outputs: [], startedAt: Date.now() });
  await sampler.take();
  found = [];
  await sampler.take(() => false);
  expect(sampler.result().processes).toMatchObject([{ command: "own" }]);
  await sampler.take();
  expect(sampler.result().processes).toEqual([]);
});

describe("a command that times out", () => {
  test("reports what it was doing at the time of the kill", async () => {
    const { bash } = tools();
    const result = await bash("mkfifo pipe; cat pipe", { timeout: 4_000 });
    expect(result).toMatchObject({ success: false, code: "timed_out" });
    expect(result.notes.join()).toMatch(
      /When its time was over: cat pipe \(pid \d+\) waits for another process/,
    );
    expect(result.metadata["diagnosis"]).toMatchObject({
      processes: expect.any(Array),
      silent_ms: expect.any(Number),
    });
  });

  test("reports what it is doing when it moves to the background", async () => {
    const { bash } = tools({ returnAfterMs: 1_500 });
    const result = await bash("sleep 300");
    expect(result.output).toMatch(/Now: sleep 300 \(pid \d+\) waits for a timer/);
    expect(result.metadata["diagnosis"]).toBeDefined();
  });
});

// With NACRE_LONG=1 this runs as the current user. npm run long -- unprivileged runs it without capabilities.
test.runIf(isLong)("a diagnosis is right in a hundred mixed runs", { timeout: 3_600_000 }, async () => {
  await checkMixed(manager(), 100, directory);
});

test("the help of nacre why names --json", () => {
  expect(
    execFileSync("node", [join(import.meta.dirname, "../../dist/cli/main.js"), "why", "--help"]).toString(),
  ).toContain("--json");
});
