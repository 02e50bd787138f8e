// nacre output --search, nacre wait --port and --file, and nacre why --json for shells of another host.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ShellManager } from "../../src/shell-manager.ts";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();

const otherHost = () => new ShellManager({ stateRoot: join(dir(), "state") });
const SERVER = `exec node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => console.log("port", s.address().port))'`;

test("output --search prints numbered lines with their context", async () => {
  await using host = otherHost();
  const shell = await host.createShell({ command: "seq 1000; echo no >&2", workingDir: dir() });
  await shell.wait(20_000);
  const found = await nacre("output", shell.id, "--search", "^500$", "--context", "1");
  expect(found).toMatchObject({ code: 0, stdout: "stdout:499: 499\nstdout:500: 500\nstdout:501: 501\n" });
  const none = await nacre("output", shell.id, "--search", "nowhere");
  expect(none).toEqual({ code: 1, stdout: "(no line matched)\n", stderr: "" });
  const bad = await nacre("output", shell.id, "--search", "a(b");
  expect([bad.code !== 0, bad.stdout]).toEqual([true, ""]);
  expect(bad.stderr).toContain("missing closing ): `a(b` (at character 2)");
  const past = await nacre("output", shell.id, "--from-line", "2000");
  expect(past.stderr).toContain("the last line of stdout is 1000");
});

test("wait --port and --file return when the shell is ready", async () => {
  await using host = otherHost();
  const shell = await host.createShell({ command: SERVER, workingDir: dir() });
  const ready = await shell.waitFor(/port \d+/, 20_000);
  const [port = ""] = /\d+/.exec(ready.kind === "matched" ? ready.line : "") ?? [];
  const waited = await nacre("wait", shell.id, "--port", port, "--timeout", "20000", "--json");
  expect([waited.code, JSON.parse(waited.stdout)]).toMatchObject([
    0,
    { result: "listening", port: Number(port), status: "running" },
  ]);
  writeFileSync(join(dir(), "made"), "");
  const file = await nacre("wait", shell.id, "--file", "made", "--timeout", "20000", "--json");
  expect([file.code, JSON.parse(file.stdout)]).toMatchObject([
    0,
    { result: "exists", file: join(dir(), "made") },
  ]);
  const why = JSON.parse((await nacre("why", shell.id, "--json")).stdout);
  expect(why).toMatchObject({
    processes: [
      { pid: expect.any(Number), state: "waiting", ports: [Number(port)], cpu_ms: expect.any(Number) },
    ],
    silent_ms: expect.any(Number),
  });
  await shell.kill({ graceMs: 0 });
});

test.each(["0", "70000", "-1", "x", "1.5"])("wait --port %s is refused", async (port) => {
  const { code, stdout, stderr } = await nacre("wait", "shell_00000000", `--port=${port}`);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("--port");
  expect(stderr).toContain("65535");
  expect(stderr).not.toContain("not found");
});

test("a shell that nacre clean removed is reported as swept, even by later processes", async () => {
  await using host = otherHost();
  const shell = await host.createShell({ command: "echo x", workingDir: dir() });
  await shell.wait(20_000);
  expect((await nacre("clean")).stdout).toContain("Removed 1 shell");
  for (const id of [shell.id, shell.id.slice(0, 12)]) {
    for (const args of [
      ["output", id],
      ["output", id, "--search", "x"],
      ["why", id],
      ["wait", id],
      ["kill", id],
    ]) {
      const { code, stdout, stderr } = await nacre(...args);
      expect([args, code === 0, stdout]).toEqual([args, false, ""]);
      expect(stderr).toContain(`The output of ${shell.id} was removed`);
    }
  }
  const found = await nacre("why", shell.id, "--json");
  expect(JSON.parse(found.stdout)).toMatchObject({ error_code: "swept" });
});

test("nacre why refuses an unknown id", async () => {
  const { code, stdout } = await nacre("why", "shell_00000000", "--json");
  expect([code === 0, JSON.parse(stdout)]).toMatchObject([false, { error_code: "shell_not_found" }]);
});
