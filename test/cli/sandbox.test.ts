import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { useCli } from "./run-nacre.ts";

const { nacre } = useCli();

describeSandboxed("nacre run --sandbox", () => {
  test("confines the command, and the JSON result names the sandbox", async () => {
    // Not in /tmp, because the sandbox has its own /tmp.
    const outside = mkdtempSync("/var/tmp/nacre-test-");
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
    const file = join(outside, "file");
    const { code, stdout } = await nacre(
      "run",
      "--json",
      "--policy",
      "off",
      "--sandbox",
      "workspace-write",
      `echo x >here; echo x >${file}`,
    );
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ sandbox: "workspace-write, network none", exit_code: 1 });
    expect(existsSync(file)).toBe(false);
    const plain = await nacre("run", "--sandbox", "read-only", "echo x >here");
    expect(plain.stderr).toContain("Read-only file system");
  });

  test("accepts paths, limits and network access", async () => {
    const args = [
      "--sandbox",
      "workspace-write",
      "--network",
      "full",
      "--hide",
      "secret",
      "--max-processes",
      "50",
    ];
    const { stdout } = await nacre(
      "run",
      ...args,
      "--max-memory",
      "512M",
      "--max-file-size",
      "1K",
      "head -c 2K /dev/zero >f; stat -c %s f; echo x >secret",
    );
    expect(stdout).toBe("1024\n");
  });

  test("passes stdin through", async () => {
    const { stdout } = await nacre("run", "--sandbox", "read-only", "--stdin", "cat; echo end");
    expect(stdout).toBe("end\n");
  });

  test("ps lists a sandboxed session with its name", async () => {
    await nacre("run", "--sandbox", "read-only", "--session", "work", "true");
    const { shells } = JSON.parse((await nacre("ps", "--all", "--json")).stdout);
    expect(shells).toMatchObject([{ command: expect.stringMatching(/^# session "work"/), session: "work" }]);
  });

  test("refuses a sandbox that cannot be enforced, with the remedy", async () => {
    const args = ["--sandbox", "workspace-write", "--writable", "/usr"];
    const refused = await nacre("run", ...args, "true");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/cannot be enforced here, so nothing was run.*--allow-unsandboxed/);
    for (const form of [[], ["--session", "work"], ["-b"]]) {
      const allowed = await nacre("run", ...form, ...args, "--allow-unsandboxed", "echo ran");
      expect(allowed).toMatchObject({
        code: 0,
        stdout: form[0] === "-b" ? expect.stringMatching(/^shell_/) : "ran\n",
        stderr: expect.stringContaining("nacre: not enforced: the sandbox"),
      });
    }
  });
});

test("invalid sizes and counts are refused", async () => {
  expect((await nacre("run", "--max-memory", "much", "true")).stderr).toContain("such as 512M or 2G");
  expect((await nacre("run", "--max-processes", "0", "true")).stderr).toContain("1 or more");
});
