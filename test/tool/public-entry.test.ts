import { expect, it } from "vitest";
import * as entry from "../../src/tool.ts";

it("nacre/tool exports exactly the names that are needed to write and call tools", () => {
  expect(Object.keys(entry).sort()).toEqual([
    "BaseTool",
    "ERROR_CODES",
    "NacreError",
    "TOOL_CATEGORIES",
    "ToolExecutor",
    "ToolParameter",
    "ToolRegistry",
    "ToolResult",
    "createContext",
  ]);
});

it("nacre/tool exports the categories of tools", () => {
  expect(entry.TOOL_CATEGORIES).toEqual(["file", "execution", "web", "task", "notebook", "mcp", "other"]);
});
