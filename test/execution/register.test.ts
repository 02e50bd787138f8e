import { describe, expect, test } from "vitest";
import { BashTool } from "../../src/execution/bash.ts";
import { registerExecutionTools, registerModesTool } from "../../src/execution/register.ts";
import { registerAllTools, registerFileTools } from "../../src/files/register-files.ts";
import { ToolRegistry } from "../../src/tool/registry.ts";

const names = (register: (registry: ToolRegistry) => void): string[] => {
  const registry = new ToolRegistry();
  register(registry);
  return registry.getAllSchemas("mcp").map(({ name }) => name);
};

describe("registering", () => {
  test("adds the tools of a dialect to a registry", () => {
    expect(names((registry) => registerExecutionTools(registry))).toEqual([
      "Bash",
      "BashOutput",
      "KillShell",
    ]);
    const files = ["Read", "Write", "Edit", "Glob", "Grep"];
    expect(names((registry) => registerFileTools(registry))).toEqual(files);
    expect(names((registry) => registerAllTools(registry))).toEqual([
      "Bash",
      "BashOutput",
      "KillShell",
      ...files,
    ]);
    expect(names((registry) => registerModesTool(registry))).toEqual(["bash"]);
  });

  test("passes the options to the tools", () => {
    const registry = new ToolRegistry();
    registerExecutionTools(registry, { maxTimeoutMs: 9_000 });
    expect(registry.get("Bash")?.toJsonSchema()).toMatchObject({
      properties: { timeout: { maximum: 9_000 } },
    });
  });

  test("leaves the directory out of the description if the directory is not known", () => {
    const registry = new ToolRegistry();
    registerModesTool(registry);
    expect(registry.get("bash")?.description).not.toContain("<pwd>");
  });

  test("refuses a name that is already registered, and adds no tool", () => {
    const registry = new ToolRegistry();
    registerExecutionTools(registry);
    expect(() => registerAllTools(registry)).toThrow(/Bash/);
    expect(registry.count).toBe(3);
  });
});

test("the dangerous patterns are the rules with the verdict deny, and cannot be changed", () => {
  const patterns = BashTool.DANGEROUS_PATTERNS;
  expect(patterns.map(({ id }) => id)).toContain("fork-bomb");
  for (const { id, reason } of patterns) expect([id, reason.length > 0]).toEqual([id, true]);
  expect(() => Object.assign(patterns, { 0: { id: "x", reason: "y" } })).toThrow(TypeError);
  expect(() => Object.assign(patterns[0] ?? {}, { id: "x" })).toThrow(TypeError);
  expect(() => Object.assign(BashTool, { DANGEROUS_PATTERNS: [] })).toThrow(TypeError);
  expect(() => Object.defineProperty(BashTool, "DANGEROUS_PATTERNS", { value: [] })).toThrow(TypeError);
  expect(() => {
    // @ts-expect-error: the property is readonly.
    BashTool.DANGEROUS_PATTERNS = [];
  }).toThrow(TypeError);
  expect(BashTool.DANGEROUS_PATTERNS).toBe(patterns);
});
