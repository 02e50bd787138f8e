// Every example runs on the built package and prints the expected output.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { removeAfterRun } from "./fixtures/remove-after-run.ts";
import { noSandbox } from "./fixtures/sandboxes.ts";

const EXAMPLES: Readonly<Record<string, RegExp>> = {
  "agent-ai-sdk": /^The tool said: hello from bash$/m,
  "agent-anthropic": /^The tool said: hello from \/$/m,
  "agent-langchain": /^The tool said: hello from bash$/m,
  "agent-openai": /^The tool said: hello from bash$/m,
  evaluate:
    /^pass sort \(exit code 0\)\npass count \(exit code 0\)\nFAIL unsolved \(exit code 0\)\n2 of 3 tasks passed$/m,
  "own-loop":
    /^Bash exit_nonzero: Command failed .*\nShell unknown_tool: .*\nBash ok: hello\nI said hello\.$/m,
  "own-policy":
    /^allow: git status\ndeny: git push origin main \(no-main-push\)\nask: git push --force .*\ndeny: rm -rf \//m,
  "run-commands":
    /^true hello true\nit's a file; \$HOME\nstdout: one\nstderr: two\nexit code 3\nFROM STDIN\nended 1\npolicy_denied delete-root$/m,
  "sandboxed-run": /^done: .*\nmine\nstopped: .*\n.*\n.*Read-only file system\nstopped: /m,
  "watch-a-server": /^The server says: it works\nEnded \d+ process\(es\); still there: 0$/m,
};
const folder = join(import.meta.dirname, "../examples");
const home = mkdtempSync(join(tmpdir(), "nacre-test-"));
afterAll(() => removeAfterRun(home));

test.for(Object.entries(EXAMPLES))("examples/%s.mjs", async ([name, expected], { skip }) => {
  if (name === "sandboxed-run" && noSandbox !== undefined) skip(noSandbox);
  const env = { ...process.env, NACRE_HOME: home };
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, `${name}.mjs`)], {
    env,
    timeout: 60_000,
  });
  expect(stdout).toMatch(expected);
});

test("every example is run here", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".mjs") && name !== "fake-model.mjs");
  expect(files.map((name) => name.slice(0, -4)).sort()).toEqual(Object.keys(EXAMPLES).sort());
});
