import { expect, it } from "vitest";
import type { ToolParameter } from "../../src/tool/input.ts";
import { BareTool, CommandTool, EveryKindTool } from "./sample-tools.ts";

const byName = (parameters: readonly ToolParameter[]) => new Map(parameters.map((p) => [p.name, p]));

it("every field of a parameter is derived from the zod object", () => {
  const parameters = byName(new CommandTool().parameters);
  expect({ ...parameters.get("command") }).toEqual({
    name: "command",
    type: "string",
    description: "The command",
    required: true,
    default: undefined,
    enum: undefined,
    minimum: undefined,
    maximum: undefined,
    minLength: 1,
    maxLength: undefined,
  });
  expect(parameters.get("timeout")).toMatchObject({
    type: "integer",
    required: false,
    default: 120_000,
    minimum: 1000,
    maximum: 600_000,
  });
});

it("the type of every kind of parameter is derived from the zod object", () => {
  const types = new EveryKindTool().parameters.map(({ name, type }) => [name, type]);
  expect(Object.fromEntries(types)).toEqual({
    text: "string",
    whole: "integer",
    positive: "integer",
    ratio: "number",
    step: "integer",
    flag: "boolean",
    mode: "string",
    code: "string",
    tags: "array",
    maybe: "string",
    where: "object",
    either: "string",
    version: "string",
    level: "number",
  });
  expect(byName(new EveryKindTool().parameters).get("mode")?.enum).toEqual(["default", "slow", "background"]);
});

it("an exclusive bound of an integer parameter is shown as an inclusive bound", () => {
  expect(byName(new EveryKindTool().parameters).get("positive")?.minimum).toBe(1);
});

it("toJsonSchema() of a parameter returns a copy", () => {
  const tool = new CommandTool();
  const [command] = tool.parameters;
  const schema = command?.toJsonSchema();
  expect(schema).toEqual({ type: "string", description: "The command", minLength: 1 });
  Object.assign(schema ?? {}, { type: "number" });
  expect(command?.toJsonSchema().type).toBe("string");
});

it("the list of parameters is empty for a tool without parameters, and cannot be changed", () => {
  expect(new BareTool().parameters).toEqual([]);
  expect(() => (new CommandTool().parameters as ToolParameter[]).pop()).toThrow(TypeError);
});
