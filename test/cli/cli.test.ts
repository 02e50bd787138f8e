import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runCli } from "../../src/cli/cli.ts";
import { isAlive } from "../fixtures/processes.ts";

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "nacre-cli-"));
  vi.stubEnv("NACRE_HOME", home);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

async function nacre(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  let stdout = "";
  let stderr = "";
  const code = await runCli(words, {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    cwd: home,
  });
  return { code, stdout, stderr };
}

test("run passes output and exit code through", async () => {
  expect(await nacre("run", "echo hello; echo oops >&2; exit 3")).toEqual({
    code: 3,
    stdout: "hello\n",
    stderr: "oops\n",
  });
});

test("run joins its words by spaces and starts in the caller's directory", async () => {
  expect(await nacre("run", "--", "pwd", "-P")).toMatchObject({ code: 0, stdout: `${home}\n` });
});

test("run names what the command left running and ends it", async () => {
  const { code, stdout, stderr } = await nacre("run", "sleep 1000 & echo $!");
  expect(code).toBe(0);
  expect(stderr).toBe(`nacre: left running, ends now: sleep 1000 (pid ${stdout.trim()})\n`);
  expect(isAlive(Number(stdout))).toBe(false);
});

test("a missing directory is an error that names it", async () => {
  const { code, stderr } = await nacre("run", "--cwd", "/nowhere/at/all", "true");
  expect(code).toBe(1);
  expect(stderr).toBe("nacre: Working directory does not exist: /nowhere/at/all\n");
});

test("no words print the tour, --version a version", async () => {
  expect(await nacre()).toMatchObject({ code: 0, stdout: expect.stringContaining("nacre run 'echo hello") });
  expect(await nacre("--version")).toMatchObject({ code: 0, stdout: "0.1.0\n" });
});

test("an unknown command is refused with exit code 2 and a word on stderr", async () => {
  const { code, stdout, stderr } = await nacre("dance");
  expect(code).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toContain("dance");
});
