import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { DiagnosedProcess } from "../../src/shell/diagnosis.ts";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import type { ShellManager } from "../../src/shell-manager.ts";
import { eventually, useShells } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { manager, directory } = useShells();
const { tools } = useTools();

interface Case {
  readonly name: string;
  readonly command: string;
  /** Of the process whose command line matches. */
  readonly of: RegExp;
  readonly state: DiagnosedProcess["state"];
  readonly waitsFor: RegExp | null;
}

const ACCEPT = `exec node -e 'require("net").createServer().listen(0, "127.0.0.1", () => console.log("ready"))'`;

const CASES: readonly Case[] = [
  { name: "spin", command: "echo ready; while :; do :; done", of: /bash/, state: "running", waitsFor: null },
  { name: "sleep", command: "echo ready; exec sleep 300", of: /^sleep/, state: "waiting", waitsFor: /timer/ },
  {
    name: "flock",
    command: "flock lock bash -c 'echo held; sleep 300' & sleep 0.3; echo ready; exec flock lock true",
    of: /^flock lock true/,
    state: "waiting",
    waitsFor: /the lock on .*\/lock, held by PID \d+ \(flock lock/,
  },
  { name: "accept", command: ACCEPT, of: /^node/, state: "waiting", waitsFor: /a connection on port \d+/ },
  {
    name: "fifo",
    command: "mkfifo pipe; echo ready; exec cat pipe",
    of: /^cat/,
    state: "waiting",
    waitsFor: /the other end of a fifo/,
  },
  {
    name: "child",
    command: "echo ready; sleep 300; true",
    of: /bash/,
    state: "waiting",
    waitsFor: /its child PID \d+ \(sleep 300\)/,
  },
  {
    name: "disk write",
    command:
      "echo ready; while :; do dd if=/dev/zero of=big bs=64k count=100000 conv=notrunc oflag=dsync 2>/dev/null; done",
    of: /^dd/,
    state: "disk",
    waitsFor: /the disk \(it writes .*\/big\)/,
  },
];

async function explained(
  host: ShellManager,
  { command, of }: Case,
): Promise<[ShellProcess, DiagnosedProcess]> {
  const shell = await host.createShell({ command, workingDir: directory() });
  await shell.waitFor("ready", 20_000);
  return await eventually(async () => {
    const { processes } = await shell.why();
    const found = processes.findLast((one) => of.test(one.command));
    if (!found) throw new Error(`${of} is not among ${processes.map((one) => one.command).join(" | ")}`);
    return [shell, found];
  });
}

function check(found: DiagnosedProcess, { state, waitsFor }: Case): void {
  expect(found).toMatchObject({ state });
  if (waitsFor === null) expect(found.waits_for).toBeNull();
  else expect(found.waits_for).toMatch(waitsFor);
}

describe("a diagnosis", () => {
  test.each(CASES)("names $name", async (one) => {
    const [shell, found] = await explained(manager(), one);
    check(found, one);
    if (one.name === "accept") expect(found.ports).toHaveLength(1);
    await shell.kill({ graceMs: 0 });
  });

  test("reports the silence and the processor time", async () => {
    const shell = await manager().createShell({ command: "echo x; sleep 300", workingDir: directory() });
    await shell.waitFor("x", 20_000);
    const { silent_ms, processes } = await shell.why();
    expect(silent_ms).toBeGreaterThanOrEqual(900);
    expect(processes.every(({ cpu_ms }) => cpu_ms >= 0)).toBe(true);
    await shell.kill({ graceMs: 0 });
    expect((await shell.why()).processes).toEqual([]);
  });
});

describe("a command whose time is over", () => {
  test("says what it did when it was killed", async () => {
    const { bash } = tools();
    const result = await bash("mkfifo pipe; cat pipe", { timeout: 1_500 });
    expect(result).toMatchObject({ success: false, code: "timed_out" });
    expect(result.notes.join()).toMatch(
      /When its time was over: cat pipe \(pid \d+\) waits for another process/,
    );
    expect(result.metadata["diagnosis"]).toMatchObject({
      processes: expect.any(Array),
      silent_ms: expect.any(Number),
    });
  });

  test("says what it does when it moves to the background", async () => {
    const { bash } = tools({ returnAfterMs: 1_500 });
    const result = await bash("sleep 300");
    expect(result.output).toMatch(/Now: sleep 300 \(pid \d+\) waits for a timer/);
    expect(result.metadata["diagnosis"]).toBeDefined();
  });
});

// NACRE_LONG=1: a hundred runs in random order, as this user, without capabilities, and in the sandbox.
test.runIf(process.env["NACRE_LONG"])(
  "is right in a hundred mixed runs",
  { timeout: 3_600_000 },
  async () => {
    const host = manager();
    for (let run = 0; run < 100; run++) {
      const one = CASES[Math.floor(Math.random() * CASES.length)] as Case;
      const [shell, found] = await explained(host, one);
      check(found, one);
      await shell.kill({ graceMs: 0 });
    }
  },
);

test("nacre why prints it", () => {
  expect(
    execFileSync("node", [join(import.meta.dirname, "../../dist/cli/main.js"), "why", "--help"]).toString(),
  ).toContain("--json");
});
