// Some processes of a sandboxed shell only maintain the sandbox. If another nacre with its own state root
// runs, bash does not become bwrap but runs it as a child (sandbox/start-script.ts). The first process inside
// is then bash's grandchild.
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { keepsSandbox } from "../../src/engine/started-shell.ts";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import { stopTogether } from "../../src/shell/stop-together.ts";
import { ShellManager } from "../../src/shell-manager.ts";
import { describeSandboxed, useSandboxWorld } from "../fixtures/sandboxes.ts";

const world = useSandboxWorld();
const manager = world.manager({ sandbox: "workspace-write" });
/** A command that waits for input in bash itself, without a child. */
const WAITS = "rm -f pipe; mkfifo pipe; echo ready; read -r <>pipe";

const BASH_OF_COMMAND = expect.stringMatching(/^\S*bash \S+\/cmd$/);

/** Starts the command and waits until it prints "ready". If `beside`, another nacre runs on this machine. */
async function running(beside: boolean): Promise<ShellProcess> {
  if (beside) {
    const other = new ShellManager({ stateRoot: join(world.outside, "other") });
    onTestFinished(() => other.dispose());
    await other.warmUp();
  }
  const shell = await manager.createShell({ command: WAITS, workingDir: world.workspace });
  onTestFinished(async () => void (await shell.kill({ graceMs: 0 })));
  await shell.waitFor("ready", 20_000);
  return shell;
}

async function processesOf({ started }: ShellProcess) {
  return (await manager.engine.processesOf([started])).get(started) ?? [];
}

describeSandboxed("the processes that maintain the sandbox", () => {
  test.each([false, true])(
    "do not count as processes of the command (another nacre runs: %s)",
    async (beside) => {
      const shell = await running(beside);
      const others = (await processesOf(shell)).filter(({ pid }) => !keepsSandbox(pid, shell.started));
      expect(others.map(({ command }) => command)).toEqual([BASH_OF_COMMAND]);
    },
  );

  test("are bwrap, its first process and the bash that runs bwrap, if another nacre runs", async () => {
    const shell = await running(true);
    const supporting = (await processesOf(shell)).filter(({ pid }) => keepsSandbox(pid, shell.started));
    expect(supporting).toHaveLength(3);
  });

  test("get no TERM, and a kill does not list them, if another nacre runs", async () => {
    const shell = await running(true);
    const { signalled, survivors } = await shell.kill({ graceMs: 20_000 });
    expect(signalled.map(({ command }) => command)).toEqual([BASH_OF_COMMAND]);
    expect(survivors).toEqual([]);
  });

  test("are not stopped by an interrupt, if another nacre runs", async () => {
    const shell = await running(true);
    const { stopped } = await stopTogether(manager.engine, shell.started);
    expect(stopped.map(({ process }) => process.command)).toEqual([BASH_OF_COMMAND]);
  });
});
