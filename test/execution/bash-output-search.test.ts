import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, directory, manager: newManager } = useTools();

const body = (output: string) => output.slice(output.indexOf("\n\n") + 2);

test("a search shows numbered lines and marks no output as read", async () => {
  const { start, read } = tools();
  const shell = await start("seq 1000; echo 'fatal: no space' >&2; exit 3");
  await shell.wait(20_000);
  const result = await read(shell, { search: "^(500|fatal.*)$", context_lines: 1 });
  expect(result).toMatchObject({
    success: true,
    metadata: { matches: 2, searched_lines: 1001, last_line: 1000, exit_code: 3, is_running: false },
  });
  expect(body(result.output)).toBe(
    ["stdout:499: 499", "stdout:500: 500", "stdout:501: 501", "--", "stderr:1: fatal: no space"].join("\n"),
  );
  expect(body((await read(shell)).output)).toContain("1\n2\n3\n");
  expect(body((await read(shell, { search: "nowhere" })).output)).toBe("(no line matched)");
});

test("the result stays within its limit, and a note says how to continue the search", async () => {
  const { start, read } = tools();
  const shell = await start("seq -f 'request number %g' 100000");
  await shell.wait(20_000);
  const result = await read(shell, { search: "request" });
  expect(result.toDisplay().length).toBeLessThanOrEqual(30_000);
  const next = Number(/from_line=(\d+)/.exec(result.notes.join())?.[1]);
  const more = await read(shell, { search: "request", from_line: next, stream: "stdout", max_lines: 1 });
  expect(body(more.output)).toBe(`stdout:${next}: request number ${next}`);
});

test("the output of a truncated Bash result can be searched by its id", async () => {
  const { bash, call } = tools();
  const result = await bash("seq 100000; echo needle in the middle; seq 100000");
  expect(result.metadata).toMatchObject({ truncated: true });
  await bash("echo needle of another command");
  const found = await call("BashOutput", { bash_id: result.metadata["bash_id"], search: "needle" });
  expect(body(found.output)).toBe("stdout:100001: needle in the middle");
  expect(found.metadata).toMatchObject({ last_line: 200_001, exit_code: 0 });
});

test("a search redacts secrets, including every line of a private key", async () => {
  const { start, read } = tools();
  const key = [
    "-----BEGIN RSA PRIVATE KEY-----",
    "MIIEpAIBAAKCAQEA7x",
    "c2VjcmV0",
    "-----END RSA PRIVATE KEY-----",
  ];
  const shell = await start(`printf '%s\\n' ${key.map((line) => `'${line}'`).join(" ")} after`);
  await shell.wait(20_000);
  const found = await read(shell, { search: "c2Vj|after" });
  expect(found.output).not.toContain("c2Vj");
  expect(found.output).toContain("stdout:5: after");
});

test("invalid input is refused with a message", async () => {
  const { start, read, manager } = tools();
  const shell = await start("seq 7");
  await shell.wait(20_000);
  expect(await read(shell, { search: "a(b" })).toMatchObject({ code: "invalid_input" });
  expect((await read(shell, { search: "x", wait_for: "y" })).error).toContain("exclude each other");
  expect((await read(shell, { from_line: 8 })).error).toContain("the last line of stdout is 7");
  expect(await read(shell, { search: "7", wait_ms: 0 })).toMatchObject({ success: true });
  expect((await read(shell, { context_lines: 1 })).error).toContain("context_lines needs search");
  rmSync(manager.root.files(shell.id).dir, { recursive: true });
  expect(await read(shell, { search: "x" })).toMatchObject({ success: false, code: "swept" });
  expect(await read(shell)).toMatchObject({ success: false, code: "swept" });
});

test.each([
  ["known to this host", true],
  ["of another host and never read", false],
])("the id of a shell that the sweep removed is reported as swept: %s", async (_what, isKnown) => {
  const stateRoot = directory();
  const other = newManager({ stateRoot });
  const shell = await other.createShell({ command: "echo x", workingDir: directory() });
  await shell.wait(20_000);
  // This host sweeps the shell: its first start schedules a sweep.
  const { start, read, call, manager } = tools({ shells: { stateRoot, finishedMaxAgeSeconds: 0 } });
  if (isKnown) expect((await read(shell)).output).toContain("x");
  await start("sleep 300");
  await eventually(() => expect(manager.root.list()).not.toContain(shell.id));
  await eventually(() => expect(manager.getShell(shell.id)).toBeUndefined());
  const killed = await call("KillShell", { shell_id: shell.id });
  for (const result of [await read(shell), await read(shell, { search: "x" }), killed])
    expect(result).toMatchObject({ success: false, code: "swept" });
  if (isKnown) expect((await read(shell, {}, { scope: "theirs" })).code).toBe("shell_not_found");
  // A host that started after the removal reports the shell as swept, too.
  const later = tools({ shells: { stateRoot } });
  for (const result of [await later.read(shell), await later.call("KillShell", { shell_id: shell.id })])
    expect(result).toMatchObject({ success: false, code: "swept" });
  const unknown = await later.call("BashOutput", { bash_id: "shell_00000000" });
  expect(unknown).toMatchObject({ success: false, code: "shell_not_found" });
});

test("the id of a shell that cleanupCompleted removed is reported as swept", async () => {
  const { start, read, manager } = tools();
  const shell = await start("echo x");
  await shell.wait(20_000);
  expect(manager.cleanupCompleted({ maxAgeSeconds: -1 })).toBe(1);
  expect(await read(shell)).toMatchObject({ success: false, code: "swept" });
});
