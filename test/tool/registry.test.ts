import { describe, expect, it } from "vitest";
import { z } from "zod";
import { NacreError } from "../../src/support/errors.ts";
import { ToolRegistry } from "../../src/tool/registry.ts";
import { BareTool, CommandTool, EveryKindTool, toolTaking } from "./sample-tools.ts";

function createRegistry(): ToolRegistry {
  const registry = new ToolRegistry();
  registry.registerMany([new CommandTool(), new BareTool()]);
  return registry;
}

describe("ToolRegistry", () => {
  it("finds tools by name, and lists them in the order of registration", () => {
    const registry = createRegistry();
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

  it("refuses a name that is already registered, and names it in the error", () => {
    const registry = createRegistry();
    expect(() => registry.register(new BareTool())).toThrow("Tool already registered: Bare");
    expect(registry.count).toBe(2);
  });

  it("registers either all tools of a call or none", () => {
    const registry = new ToolRegistry();
    const twice = [new CommandTool(), new BareTool(), new BareTool()];
    expect(() => registry.registerMany(twice)).toThrow("Tool already registered: Bare");
    expect(registry.count).toBe(0);
  });

  it("removes one tool or all tools", () => {
    const registry = createRegistry();
    expect(registry.deregister("Bare")).toBe(true);
    expect(registry.deregister("Bare")).toBe(false);
    expect(registry.get("Bare")).toBeUndefined();
    registry.clear();
    expect(registry.count).toBe(0);
  });

  it("lists the known tools if a tool is unknown", () => {
    expect(() => createRegistry().getOrThrow("bash")).toThrow(
      'Unknown tool: "bash". Available tools: Command, Bare',
    );
    expect(() => new ToolRegistry().getOrThrow("x")).toThrow('Unknown tool: "x". No tools are registered');
    expect(createRegistry().describeMissing(undefined as never)).toContain("Unknown tool: undefined");
  });

  it("lists the known formats if a format is unknown", () => {
    const ask = () => createRegistry().getAllSchemas("toString" as "mcp");
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
    ["a schema that JSON Schema cannot express", z.object({ when: z.date() }), "T", /Date/],
    ["a schema with references", z.object({ a: z.string().meta({ id: "A" }) }), "T", /references/],
    ["a schema with tuples", z.object({ a: z.tuple([z.string()]) }), "T", /tuples/],
  ])("refuses %s", (_, input, name, message) => {
    expect(() => new ToolRegistry().register(toolTaking(input, name))).toThrow(message);
  });

  it("has one shared instance, and allows separate instances", () => {
    expect(ToolRegistry.shared()).toBe(ToolRegistry.shared());
    expect(new ToolRegistry()).not.toBe(ToolRegistry.shared());
  });
});
