import { describe, expect, test } from "vitest";
import { registerExecutionTools } from "../../src/execution/register.ts";
import { ToolRegistry } from "../../src/tool/registry.ts";

function createRegistry(): ToolRegistry {
  const registry = new ToolRegistry();
  registerExecutionTools(registry);
  return registry;
}

describe("Feature: Tool Registration", () => {
  test("All execution tools are registered", () => {
    const registry = createRegistry();
    for (const name of ["Bash", "BashOutput", "KillShell"]) {
      expect(registry.get(name)).toMatchObject({ name, category: "execution" });
    }
  });

  test("Execution tools generate valid schemas", () => {
    const schemas = createRegistry().getAllSchemas("openai");
    expect(schemas.map(({ function: f }) => [f.name, f.parameters])).toMatchObject([
      ["Bash", { type: "object", required: expect.arrayContaining(["command"]) }],
      ["BashOutput", { type: "object", required: expect.arrayContaining(["bash_id"]) }],
      ["KillShell", { type: "object", required: expect.arrayContaining(["shell_id"]) }],
    ]);
    for (const schema of schemas) {
      expect(schema.type).toBe("function");
      expect(schema.function.description).not.toBe("");
    }
  });
});
