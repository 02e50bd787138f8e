import { expect, test } from "vitest";
import { describeSandboxed, useSandboxWorld } from "../fixtures/sandboxes.ts";
import { eventually } from "../fixtures/shells.ts";

const world = useSandboxWorld();

const SPIN = "echo ready; while :; do :; done";
const BASH = { command: expect.stringMatching(/^bash -c /) };

describeSandboxed("a diagnosis of a sandboxed shell", () => {
  test.each([
    ["spin", SPIN, [{ ...BASH, state: "running", waits_for: null }]],
    ["fifo", "mkfifo pipe; echo ready; exec cat pipe", [{ command: "cat pipe", state: "waiting" }]],
    [
      "child",
      "echo ready; sleep 300; true",
      [
        { ...BASH, state: "waiting", waits_for: expect.stringMatching(/its child PID \d+ \(sleep 300\)/) },
        { command: "sleep 300", state: "waiting", waits_for: "a timer (it sleeps)" },
      ],
    ],
  ])("names %s, and no process of the sandbox itself", async (_name, command, expected) => {
    const manager = world.manager({ sandbox: "workspace-write" });
    const shell = await manager.createShell({ command, workingDir: world.workspace });
    await shell.waitFor("ready", 20_000);
    await eventually(async () => {
      const { processes } = await shell.why();
      const byName = [...processes].sort((a, b) => a.command.localeCompare(b.command));
      expect(byName).toMatchObject(expected);
    });
    await shell.kill({ graceMs: 0 });
  });
});
