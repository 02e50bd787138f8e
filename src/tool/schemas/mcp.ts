// A tool as MCP's `tools/list` shows it.

import type { BaseTool, ToolAnnotations } from "../tool.ts";
import type { JsonSchema } from "./json-schema.ts";

export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations?: ToolAnnotations;
}

export function toMcp(tool: BaseTool): McpTool {
  const { name, title, description, annotations } = tool;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: tool.toJsonSchema(),
    ...(annotations !== undefined && { annotations: { ...annotations } }),
  };
}
