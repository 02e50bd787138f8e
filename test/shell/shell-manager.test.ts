import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { ShellManager } from "../../src/shell/shell-manager.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager, run } = useShells();

test("a shell runs its command, keeps both streams and the exit code", async () => {
  const shell = await run(manager(), "echo hi; echo oops >&2; exit 3");
  expect(shell.id).toMatch(/^shell_[0-9a-f]{8}$/);
  expect(shell).toMatchObject({ status: "failed", exitCode: 3, signal: null, isRunning: false });
  expect(shell.getAllOutput()).toBe("hi\n[stderr]\noops\n");
});

test("shared() is one manager until reset() ends its shells and forgets it", async () => {
  const shared = ShellManager.shared();
  expect(ShellManager.shared()).toBe(shared);
  const shell = await shared.createShell({ command: "sleep 300", workingDir: tmpdir() });
  await ShellManager.reset();
  expect(shell.status).toBe("killed");
  expect(ShellManager.shared()).not.toBe(shared);
  await ShellManager.reset();
});
