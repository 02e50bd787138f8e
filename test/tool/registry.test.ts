import { describe, expect, it } from "vitest";
import { z } from "zod";
import { NacreError } from "../../src/support/errors.ts";
import { ToolRegistry } from "../../src/tool/registry.ts";
import { BareTool, CommandTool, EveryKindTool, toolTaking } from "./sample-tools.ts";

function filled(): ToolRegistry {
  const registry = new ToolRegistry();
  registry.registerMany([new CommandTool(), new BareTool()]);
  return registry;
}

describe("ToolRegistry", () => {
  it("finds tools by name, in the order they came", () => {
    const registry = filled();
    const every = new EveryKindTool();
    registry.register(every);
    expect(registry.count).toBe(3);
    expect(registry.listNames()).toEqual(["Command", "Bare", "EveryKind"]);
    expect(registry.listAll().at(-1)).toBe(every);
    expect(registry.get("EveryKind")).toBe(every);
    expect(registry.getOrThrow("EveryKind")).toBe(every);
    expect(registry.exists("EveryKind")).toBe(true);
    expect(registry.listByCategory("execution").map((tool) => tool.name)).toEqual(["Command"]);
    expect(registry.listByCategory("web")).toEqual([]);
  });

  it("refuses a name that is taken, naming it", () => {
    const registry = filled();
    expect(() => registry.register(new BareTool())).toThrow("Tool already registered: Bare");
    expect(registry.count).toBe(2);
  });

  it("registers many or none", () => {
    const registry = new ToolRegistry();
    const twice = [new CommandTool(), new BareTool(), new BareTool()];
    expect(() => registry.registerMany(twice)).toThrow("Tool already registered: Bare");
    expect(registry.count).toBe(0);
  });

  it("forgets tools one by one and all at once", () => {
    const registry = filled();
    expect(registry.deregister("Bare")).toBe(true);
    expect(registry.deregister("Bare")).toBe(false);
    expect(registry.get("Bare")).toBeUndefined();
    registry.clear();
    expect(registry.count).toBe(0);
  });

  it("lists the known tools for an unknown one", () => {
    expect(() => filled().getOrThrow("bash")).toThrow('Unknown tool: "bash". Available tools: Command, Bare');
    expect(() => new ToolRegistry().getOrThrow("x")).toThrow('Unknown tool: "x". No tools are registered');
    expect(filled().describeMissing(undefined as never)).toContain("Unknown tool: undefined");
  });

  it("lists the known formats for an unknown one", () => {
    const ask = () => filled().getAllSchemas("toString" as "mcp");
    expect(ask).toThrow(NacreError);
    expect(ask).toThrow('the string "toString". Formats: openai, openai-strict, anthropic, gemini, mcp');
  });

  it.each<[string, z.ZodObject, string, RegExp]>([
    ["a tool name that providers refuse", z.object({}), "my tool", /Not a tool name: "my tool"/],
    ["a tool without a name", z.object({}), "", /Not a tool name/],
    [
      "a parameter name that providers refuse",
      z.object({ "a-b": z.string() }),
      "T",
      /Not a parameter name of T: "a-b"/,
    ],
    ["a schema that JSON Schema cannot say", z.object({ when: z.date() }), "T", /Date/],
    ["a schema with references", z.object({ a: z.string().meta({ id: "A" }) }), "T", /references/],
    ["a schema with tuples", z.object({ a: z.tuple([z.string()]) }), "T", /tuples/],
  ])("refuses %s", (_, input, name, message) => {
    expect(() => new ToolRegistry().register(toolTaking(input, name))).toThrow(message);
  });

  it("has one shared instance, and ordinary ones beside it", () => {
    expect(ToolRegistry.shared()).toBe(ToolRegistry.shared());
    expect(new ToolRegistry()).not.toBe(ToolRegistry.shared());
  });
});
