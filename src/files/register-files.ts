// Registers the file tools, and all built-in tools.
import type { ExecutionOptions } from "../execution/execution-options.ts";
import { registerExecutionTools } from "../execution/register.ts";
import type { ToolRegistry } from "../tool/registry.ts";
import { EditTool } from "./edit-tool.ts";
import { GlobTool } from "./glob-tool.ts";
import { GrepTool } from "./grep-tool.ts";
import { ReadTool } from "./read-tool.ts";
import { WriteTool } from "./write-tool.ts";

/** Read, Write, Edit, Glob and Grep. */
export function registerFileTools(registry: ToolRegistry, options: ExecutionOptions = {}): void {
  const tools = [ReadTool, WriteTool, EditTool, GlobTool, GrepTool];
  registry.registerMany(tools.map((Tool) => new Tool(options)));
}

/** The groups of built-in tools, in the order in which they are listed. */
const GROUPS: readonly ((registry: ToolRegistry, options: ExecutionOptions) => void)[] = [
  registerExecutionTools,
  registerFileTools,
];

/** The built-in tools of all groups of the default dialect. */
export function registerAllTools(registry: ToolRegistry, options: ExecutionOptions = {}): void {
  for (const register of GROUPS) register(registry, options);
}
