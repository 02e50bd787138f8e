// Without bubblewrap, every entry point refuses the sandbox in one sentence with the fix. The tests use the
// real probe and hide bwrap only from their own processes.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { removeAfterRun } from "../fixtures/remove-after-run.ts";
import { CANNOT_MOUNT, canMount, isRoot } from "../fixtures/special-host.ts";
import { program } from "../mcp/mcp-clients.ts";

const dir = mkdtempSync(join(tmpdir(), "nacre-test-"));
afterAll(() => removeAfterRun(dir));

const REFUSED =
  /The sandbox "workspace-write" cannot be enforced here, so nothing was run: bubblewrap \(bwrap\) is not installed.+ Install it: apt-get install bubblewrap.+ To run without the sandbox, set allowUnsandboxed \(--allow-unsandboxed\)\./;

const BWRAP = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"].filter((path) => existsSync(path));
const library = fileURLToPath(new URL("../../dist/index.js", import.meta.url));
const reporter = new URL("../../scripts/run-vitest.mjs", import.meta.url);
const env = { PATH: "/usr/bin:/bin", HOME: dir, NACRE_HOME: join(dir, "state") };

/** A prefix that runs a command line with bwrap hidden. */
const bwrapHidden: readonly string[] =
  BWRAP.length === 0
    ? ["env"]
    : [
        ...["unshare", isRoot ? "-m" : "-rm", "bash", "-c"],
        `${BWRAP.map((path) => `mount --bind /dev/null ${path}`).join(" && ")} && exec "$@"`,
        "bash",
      ];

function run(...words: string[]) {
  const [file = "", ...args] = [...bwrapHidden, process.execPath, ...words];
  const { status, stdout, stderr } = spawnSync(file, args, {
    cwd: dir,
    env,
    encoding: "utf8",
    timeout: 60_000,
  });
  return { code: status, stdout, stderr };
}

const isSkipped = BWRAP.length > 0 && !canMount();

test("createToolkit refuses the sandbox", ({ skip }) => {
  skip(isSkipped, CANNOT_MOUNT);
  const script = `import { createToolkit } from ${JSON.stringify(library)};
try { await createToolkit({ workingDir: process.cwd(), sandbox: "workspace-write" }); }
catch (error) { console.log(error.code); console.log(error.message); }`;
  const { code, stdout, stderr } = run("--input-type=module", "-e", script);
  const [errorCode, message = "", ...more] = stdout.split("\n");
  expect({ code, stderr, errorCode, more }).toEqual({
    code: 0,
    stderr: "",
    errorCode: "spawn_failed",
    more: [""],
  });
  expect(message).toMatch(REFUSED);
});

test.for([[], ["-b"], ["--json"], ["--session", "work"]])(
  "nacre run %j refuses the sandbox",
  (words, { skip }) => {
    skip(isSkipped, CANNOT_MOUNT);
    const { code, stdout, stderr } = run(
      program,
      "run",
      ...words,
      "--sandbox",
      "workspace-write",
      "touch here",
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(REFUSED);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    if (words.includes("--json")) expect(JSON.parse(stdout).error).toMatch(REFUSED);
    expect(existsSync(join(dir, "here"))).toBe(false);
  },
);

test("nacre mcp starts, warns on stderr and refuses every call", async ({ skip }) => {
  skip(isSkipped, CANNOT_MOUNT);
  const [file = "", ...args] = [
    ...bwrapHidden,
    process.execPath,
    program,
    "mcp",
    "--sandbox",
    "workspace-write",
  ];
  const child = spawn(file, args, { cwd: dir, env, stdio: "pipe" });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const warned = once(child.stderr, "data");
  const clientInfo = { name: "test", version: "1" };
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const call = { name: "Bash", arguments: { command: "touch here" } };
  for (const message of [
    { id: 1, method: "initialize", params: hello },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/call", params: call },
  ]) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
  await warned;
  child.stdin.end();
  const [stdout, stderr] = await output;
  const answer = stdout.split("\n").find((line) => line.includes('"id":2')) ?? "{}";
  expect(JSON.parse(answer).result).toMatchObject({
    isError: true,
    structuredContent: { error_code: "spawn_failed", error: expect.stringMatching(REFUSED) },
  });
  expect(stderr).toMatch(REFUSED);
  expect(existsSync(join(dir, "here"))).toBe(false);
});

test("nacre doctor reports missing bubblewrap with the fix", ({ skip }) => {
  skip(isSkipped, CANNOT_MOUNT);
  const { code, stdout } = run(program, "doctor");
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^limited +bubblewrap +no sandbox: bubblewrap \(bwrap\) is not installed.*\n +fix: Install it: /m,
  );
});

// The timeout is long because this test starts the test runner twice.
test("the test runner lists skipped tests with the reason, and in CI a skip is a failure", {
  timeout: 120_000,
}, ({ skip }) => {
  skip(isSkipped, CANNOT_MOUNT);
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const report = (ci: string) => {
    const script = `process.env.CI = ${JSON.stringify(ci)};
import { runVitest } from ${JSON.stringify(reporter.href)};
process.exit(runVitest({ cwd: ${JSON.stringify(cwd)}, args: ["test/cli/sandbox.test.ts"] }).status);`;
    return run("--input-type=module", "-e", script);
  };
  const { code, stdout } = report("");
  const reason = "needs a sandbox; bubblewrap is not installed: apt-get install bubblewrap";
  expect(stdout).toContain(`skipped: nacre run --sandbox (${reason}) > passes stdin through\n`);
  const skips = stdout.split("\n").filter((line) => line.startsWith("skipped: "));
  expect(skips.filter((line) => !line.includes(reason))).toEqual([]);
  expect(skips.length).toBeGreaterThan(3);
  expect(stdout).toMatch(new RegExp(`\\n1 passed, 0 failed, ${skips.length} skipped\\n$`));
  expect(code).toBe(0);
  const strict = report("true");
  expect(strict.stdout).toContain("Must not be skipped here: nacre run --sandbox");
  const counts = `1 passed, ${skips.length} failed, ${skips.length} skipped`;
  expect(strict.stdout).toMatch(new RegExp(`\\n${counts}\\n$`));
  expect(strict.code).toBe(1);
});
