import { spawnSync } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { OutputPiece } from "../../src/shell/follow-output.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager, directory, run } = useShells();

async function collected(pieces: AsyncIterable<OutputPiece>): Promise<Record<string, string>> {
  const text: Record<string, string> = {};
  for await (const piece of pieces) text[piece.stream] = (text[piece.stream] ?? "") + piece.text;
  return text;
}

test("output arrives while the shell runs, and the iteration ends with the shell", async () => {
  const dir = directory();
  const gate = join(dir, "gate");
  writeFileSync(gate, "");
  const shell = await manager().createShell({
    command: "echo one; tail -f gate | read -r; echo two >&2; echo three",
    workingDir: dir,
  });
  const seen: OutputPiece[] = [];
  for await (const piece of shell.output()) {
    seen.push(piece);
    if (piece.text === "one\n") {
      expect(shell.isRunning).toBe(true);
      appendFileSync(gate, "go\n");
    }
  }
  expect(shell.isRunning).toBe(false);
  expect(seen[0]).toEqual({ stream: "stdout", text: "one\n" });
  expect(await collected(shell.output())).toEqual({ stdout: "one\nthree\n", stderr: "two\n" });
});

test("a reader that stops iterating no longer keeps the process alive", () => {
  const dist = fileURLToPath(new URL("../../dist/index.js", import.meta.url));
  const script = `const { ShellManager } = await import(${JSON.stringify(dist)});
const manager = new ShellManager({ stateRoot: ${JSON.stringify(join(directory(), "state"))} });
const shell = await manager.createShell({ command: "echo one; exec sleep 300", workingDir: "/" });
const { value } = await shell.output().next();
await manager.dispose();
process.stdout.write(value.text);`;
  const { stdout, signal } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
    timeout: 20_000,
  });
  expect({ stdout, signal }).toEqual({ stdout: "one\n", signal: null });
});

test("concurrent readers each get their own output", async () => {
  const shells = manager();
  const digits = [1, 2, 3, 4, 5, 6, 7, 8];
  const ended = await Promise.all(
    digits.map((digit) => run(shells, `head -c 300000 /dev/zero | tr '\\0' ${digit}; echo >&2 ${digit}`)),
  );
  const texts = await Promise.all(ended.map((shell) => collected(shell.output())));
  expect(texts.map(({ stdout }) => stdout?.length)).toEqual(digits.map(() => 300_000));
  expect(texts.map(({ stdout }) => [...new Set(stdout)].join())).toEqual(digits.map(String));
  expect(texts.map(({ stderr }) => stderr)).toEqual(digits.map((digit) => `${digit}\n`));
});

test("every reader gets the whole output of an ended shell", async () => {
  const shell = await run(manager(), "seq 1 50000; printf '€' >&2");
  const whole = { stdout: Array.from({ length: 50_000 }, (_, i) => `${i + 1}\n`).join(""), stderr: "€" };
  expect(await collected(shell.output())).toEqual(whole);
  expect(await collected(shell.output())).toEqual(whole);
  expect(shell.lastReadStdout).toBe(0);
});

test("characters split between chunks arrive whole, and an incomplete last character is replaced", async () => {
  const shell = await run(manager(), "printf 'a%.0s' {1..65535}; printf '€b\\xe2'");
  const { stdout } = await collected(shell.output());
  expect(stdout).toBe(`${"a".repeat(65_535)}€b\ufffd`);
});

test("a reader that stops early does not affect other readers", async () => {
  const shell = await manager().createShell({ command: "echo one; sleep 300", workingDir: tmpdir() });
  for await (const { text } of shell.output()) {
    expect(text).toBe("one\n");
    break;
  }
  expect(shell.status).toBe("running");
  const rest = collected(shell.output());
  await shell.kill({ graceMs: 0 });
  expect(await rest).toEqual({ stdout: "one\n" });
});
