import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

describe("Feature: Bash Tool - Foreground Execution", () => {
  test("Execute simple command", async () => {
    const result = await tools().bash("echo hello");
    expect(result).toMatchObject({ success: true, output: "hello\n", metadata: { exit_code: 0 } });
  });

  test("Execute command with output", async () => {
    const { bash, dir } = tools();
    writeFileSync(join(dir, "one.txt"), "");
    writeFileSync(join(dir, "two.txt"), "");
    const result = await bash("ls -la");
    expect(result).toMatchObject({ success: true, metadata: { exit_code: 0 } });
    expect(result.output).toMatch(/one\.txt\n.*two\.txt\n/);
  });

  test("Execute command that fails", async () => {
    const result = await tools().bash("exit 1");
    expect(result).toMatchObject({
      success: false,
      code: "exit_nonzero",
      error: "Command failed with exit code 1",
      metadata: { exit_code: 1 },
    });
  });

  test("Execute command with stderr", async () => {
    const result = await tools().bash("echo error >&2");
    expect(result).toMatchObject({ success: true, output: "[stderr]\nerror\n" });
  });

  test("Execute chained commands with &&", async () => {
    expect(await tools().bash("echo first && echo second")).toMatchObject({
      success: true,
      output: "first\nsecond\n",
    });
  });

  test("Execute chained commands with failing first", async () => {
    const result = await tools().bash("exit 1 && echo second");
    expect(result.success).toBe(false);
    expect(result.output).toBe("");
  });

  test("Execute command with timeout", async () => {
    expect(await tools().bash("sleep 1 && echo done", { timeout: 5000 })).toMatchObject({
      success: true,
      output: "done\n",
    });
  });

  test("Execute command that times out", async () => {
    const { bash } = tools();
    const result = await bash("sleep 10", { timeout: 1000 });
    expect(result).toMatchObject({
      success: false,
      code: "timed_out",
      error: "Command timed out after 1000ms",
      metadata: { timeout_ms: 1000 },
    });
    expect((await bash("echo still usable")).output).toBe("still usable\n");
  });

  test("Execute command with description", async () => {
    const { bash, dir } = tools();
    writeFileSync(join(dir, "package.json"), "{}");
    const args = { description: "Install dependencies" };
    const env = { npm_config_offline: "true", npm_config_cache: join(dir, "cache"), HOME: dir };
    const result = await bash("npm install", args, { env });
    expect(result.metadata).toMatchObject({ command: "npm install", description: "Install dependencies" });
    expect(result).toMatchObject({ success: true });
  });

  test("Execute command with large output", async () => {
    const result = await tools().bash("printf 'x%.0s' {1..50000}");
    expect(result).toMatchObject({ success: true, metadata: { truncated: true } });
    expect(result.output.length).toBeLessThanOrEqual(30_000);
    expect(result.output).toContain("[Output truncated at 30000 characters");
  });

  test("Execute command in dry run mode", async () => {
    const { bash, dir, manager } = tools();
    const victim = join(dir, "test");
    mkdirSync(victim);
    const result = await bash(`rm -rf ${victim}`, {}, { dryRun: true });
    expect(result).toMatchObject({
      success: true,
      output: `[Dry Run] Would execute: rm -rf ${victim}`,
      metadata: { dry_run: true },
    });
    expect(existsSync(victim)).toBe(true);
    expect(manager.findAll()).toEqual([]);
  });
});
