// These tests judge dangerous commands. The judge throws for every command that it does not deny, so no
// dangerous command can run by mistake.
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { onlyDenials, useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

async function expectBlocked(command: string): Promise<void> {
  const { call, manager } = tools({ judge: onlyDenials });
  for (const context of [{}, { dryRun: true }]) {
    for (const [tool, args] of [
      ["Bash", { command }],
      ["Bash", { command, run_in_background: true }],
      ["bash", { command }],
      ["bash", { command, mode: "background" }],
    ] as const) {
      const result = await call(tool, args, context);
      expect(result).toMatchObject({ success: false, code: "policy_denied" });
      expect(result.error).toMatch(
        /blocked as dangerous: .+ \(rule [\w-]+\)\. Instead: .+ Nothing was run\.$/s,
      );
    }
  }
  expect(manager.findAll()).toEqual([]);
}

describe("Feature: Bash Tool - Security", () => {
  test("Block dangerous rm -rf /", async () => {
    await expectBlocked("rm -rf /");
  });

  test("Block dangerous rm -rf /*", async () => {
    await expectBlocked("rm -rf /*");
  });

  test("Block fork bomb", async () => {
    await expectBlocked(":(){ :|:& };:");
  });

  test("Block mkfs command", async () => {
    await expectBlocked("mkfs.ext4 /dev/sda1");
  });

  test("Allow safe rm command", async () => {
    const { bash, dir } = tools();
    const file = join(dir, "test_file.txt");
    writeFileSync(file, "");
    expect(await bash(`rm ${file}`)).toMatchObject({ success: true });
    expect(existsSync(file)).toBe(false);
  });

  test("Allow git commands", async () => {
    const { bash, dir } = tools();
    execFileSync("git", ["init", "-q", "-b", "main", dir]);
    const result = await bash("git status");
    expect(result.success).toBe(true);
    expect(result.output).toContain("On branch main");
  });

  test("Allow npm commands", async () => {
    const { bash, dir } = tools();
    writeFileSync(join(dir, "package.json"), "{}");
    const result = await bash("npm --version");
    expect(result.success).toBe(true);
    expect(result.output).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
