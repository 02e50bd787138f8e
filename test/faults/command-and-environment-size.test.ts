import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { useShells } from "../fixtures/shells.ts";

const { manager, run } = useShells();

test.each([
  ["131,072 bytes, one more than the kernel allows for an argument", 131_072],
  ["1 MiB", 1024 ** 2],
  ["3 MB", 3_000_000],
])("a command of %s runs", async (_, size) => {
  const head = "echo first; cat << 'END' | sha256sum\n";
  const tail = "\nEND\necho last; exit 7\n";
  const text = "x".repeat(size - head.length - tail.length);
  const shell = await run(manager(), `${head}${text}${tail}`);
  const digest = createHash("sha256").update(`${text}\n`).digest("hex");
  expect(shell.getAllOutput()).toBe(`first\n${digest}  -\nlast\n`);
  expect(shell.exitCode).toBe(7);
});

test("a command of 20,000 lines runs to its last line", async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `: line ${i}`);
  const shell = await run(manager(), `${lines.join("\n")}\necho $LINENO`);
  expect(shell.getAllOutput()).toBe("20001\n");
});

test.each([
  ["a\0b", 1],
  ["\0", 0],
  [`echo ${"x".repeat(1000)}\0`, 1005],
])("a NUL in a command is refused with its offset", async (command, offset) => {
  const start = manager().createShell({ command, workingDir: "/" });
  await expect(start).rejects.toMatchObject({ name: "NacreError", code: "invalid_input" });
  await expect(start).rejects.toThrow(new RegExp(`NUL character at offset ${offset};`));
});

test("a variable with a NUL is refused, not truncated at the NUL", async () => {
  const start = manager().createShell({ command: "true", workingDir: "/", env: { NAME: "a\0b" } });
  await expect(start).rejects.toMatchObject({ name: "NacreError", code: "invalid_input" });
  await expect(start).rejects.toThrow(/NAME/);
});

test("an environment of 3 MB is refused, and its biggest variable is named", async () => {
  const names = Array.from({ length: 40 }, (_, i) => `BULK_${i}`);
  const env = Object.fromEntries(names.map((name) => [name, "x".repeat(80_000)]));
  const start = manager().createShell({
    command: "true",
    workingDir: "/",
    env: { ...env, BULK_17: "x".repeat(90_000) },
  });
  await expect(start).rejects.toMatchObject({ name: "NacreError", code: "limit_reached" });
  await expect(start).rejects.toThrow(/Environment too large.*biggest is BULK_17 with 90009 bytes/);
});

test("a variable that is larger than the system allows is refused by name", async () => {
  const start = manager().createShell({
    command: "true",
    workingDir: "/",
    env: { HUGE: "x".repeat(131_072) },
  });
  await expect(start).rejects.toThrow(/Environment too large: HUGE has 131078 bytes/);
});

test.each([
  ["a size that fits into a fifo", 30_000, 1],
  ["a size that does not fit into a fifo", 100_000, 1],
  ["nearly the maximum size", 100_000, 18],
])("an environment of %s reaches the command and its children completely", async (_, size, count) => {
  const names = Array.from({ length: count }, (_unused, i) => `BULK_${i}`);
  const env = Object.fromEntries(names.map((name, i) => [name, String(i % 10).repeat(size)]));
  const shell = await run(manager(), "env -0 | tr '\\0' '\\n' | grep ^BULK_ | sort", { env });
  const expected = names.map((name) => `${name}=${env[name]}\n`).sort();
  expect(shell.exitCode).toBe(0);
  expect(readFileSync(shell.outputFiles.stdout, "utf8") === expected.join("")).toBe(true);
});

test("a variable may contain newlines or quotes, or be empty", async () => {
  const env = { LINES_OF: "one\ntwo\n\n", QUOTES: `'"\`$(echo no)\\`, EMPTY: "" };
  const shell = await run(manager(), `printf '%s|' "$LINES_OF" "$QUOTES" "\${EMPTY-unset}"`, { env });
  expect(shell.getAllOutput()).toBe(`${env.LINES_OF}|${env.QUOTES}||`);
});

test("a refused start does not count as a live shell", async () => {
  const shells = manager({ maxLiveShells: 1 });
  for (const command of ["a\0b", "c\0d"]) {
    await expect(shells.createShell({ command, workingDir: "/" })).rejects.toThrow(/NUL/);
  }
  await expect(
    shells.createShell({ command: "true", workingDir: "/nonexistent/directory" }),
  ).rejects.toThrow();
  expect((await run(shells, "exit 2")).exitCode).toBe(2);
  expect(shells.listShells()).toHaveLength(1);
});

test("a start after the manager was disposed of is refused", async () => {
  const shells = manager();
  await run(shells, "true");
  await shells.dispose();
  await expect(shells.createShell({ command: "true", workingDir: "/" })).rejects.toThrow(/disposed/);
});
