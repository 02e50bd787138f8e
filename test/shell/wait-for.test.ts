import { appendFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useShells } from "../fixtures/shells.ts";

const { manager, directory, run } = useShells();

async function gated(command: string) {
  const dir = directory();
  writeFileSync(join(dir, "gate"), "");
  const shell = await manager().createShell({ command, workingDir: dir });
  return { shell, open: () => appendFileSync(join(dir, "gate"), "go\n") };
}
const GATE = "tail -f gate | read -r";

describe("waiting for a line", () => {
  test("returns the line from either stream, whether it is printed before or during the wait", async () => {
    const { shell, open } = await gated(`echo early; ${GATE}; echo "listening on 8080" >&2; sleep 300`);
    expect(await shell.waitFor({ pattern: /early/ }, 10_000)).toEqual({
      kind: "matched",
      stream: "stdout",
      line: "early",
    });
    const coming = shell.waitFor({ pattern: /listening on \d+/ }, 10_000);
    open();
    expect(await coming).toEqual({ kind: "matched", stream: "stderr", line: "listening on 8080" });
    expect(await shell.waitFor({ pattern: { matches: (line) => line === "early" } })).toMatchObject({
      line: "early",
    });
    await shell.kill({ graceMs: 0 });
  });

  test("finds a prompt that has no newline", async () => {
    const { shell } = await gated("printf 'Password: '; sleep 300");
    expect(await shell.waitFor({ pattern: /Password: $/ }, 10_000)).toMatchObject({ line: "Password: " });
    await shell.kill({ graceMs: 0 });
  });

  test("finds a line that arrives in two parts", async () => {
    const { shell, open } = await gated(`printf 'rea'; ${GATE}; printf 'dy\\n'; sleep 300`);
    const found = shell.waitFor({ pattern: /^ready$/ }, 10_000);
    await shell.waitFor({ pattern: /^rea$/ }, 10_000);
    open();
    expect(await found).toMatchObject({ line: "ready" });
    await shell.kill({ graceMs: 0 });
  });

  test("works with a global or sticky pattern any number of times", async () => {
    const shell = await run(manager(), "echo xx ready");
    for (const pattern of [/ready/g, /xx/y, /READY/gi]) {
      for (let time = 0; time < 3; time++) {
        expect(await shell.waitFor({ pattern }, 5_000)).toMatchObject({ kind: "matched", line: "xx ready" });
      }
    }
  });

  test("searches only the output after `from`", async () => {
    const shell = await run(manager(), "echo ready 1; echo ready 2");
    const result = await shell.waitFor({ pattern: /ready/, from: { stdout: 8, stderr: 0 } }, 5_000);
    expect(result).toMatchObject({ line: "ready 2" });
  });

  test("finds an empty line only where an empty line was printed", async () => {
    const shells = manager();
    const without = await run(shells, "echo one; echo two");
    expect(await without.waitUntil({ pattern: /^$/ }, 5_000)).toMatchObject({ kind: "ended" });
    const having = await run(shells, "echo one; echo; echo two");
    expect(await having.waitUntil({ pattern: /^$/ }, 5_000)).toEqual({
      kind: "matched",
      stream: "stdout",
      line: "",
    });
  });

  test("finds a line that is printed right before the end", async () => {
    const shell = await manager().createShell({ command: "echo last", workingDir: tmpdir() });
    expect(await shell.waitFor({ pattern: /last/ }, 10_000)).toMatchObject({ kind: "matched" });
  });
});

describe("a wait for a line that does not come", () => {
  test("throws at the timeout, and does not end the shell", async () => {
    const { shell } = await gated("echo one; sleep 300");
    await expect(shell.waitFor({ pattern: /two/ }, 30)).rejects.toMatchObject({
      code: "timed_out",
      message: `Waited 30ms for the line of ${shell.id}; it is still running.`,
    });
    await expect(shell.waitFor({ pattern: /two/, timeoutMs: 20 })).rejects.toThrow("Waited 20ms");
    expect(shell.isRunning).toBe(true);
    expect(await shell.waitUntil({ pattern: /two/ }, 20)).toEqual({ kind: "expired" });
    await shell.kill({ graceMs: 0 });
  });

  test("throws when the shell ends first, and reports the outcome", async () => {
    const { shell, open } = await gated(`${GATE}; exit 3`);
    const waiting = shell.waitFor({ pattern: /never/ }, 10_000);
    open();
    await expect(waiting).rejects.toMatchObject({
      code: "exit_nonzero",
      message: `${shell.id} exited with code 3 before a line matched.`,
    });
  });
});
