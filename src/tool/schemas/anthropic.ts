// Anthropic's tool format: the JSON Schema as it is, under their name for it.

import type { BaseTool } from "../tool.ts";
import type { JsonSchema } from "./json-schema.ts";

export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonSchema;
}

export function toAnthropic(tool: BaseTool): AnthropicTool {
  return { name: tool.name, description: tool.description, input_schema: tool.toJsonSchema() };
}
