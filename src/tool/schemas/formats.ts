// The formats for showing a tool to a model, by name. This file defines the two formats that need no conversion. To add
// a format, add a file to this folder and a line to SCHEMA_FORMATS.

import { defined } from "../../support/defined.ts";
import type { BaseTool, ToolAnnotations } from "../tool.ts";
import { type GeminiTool, toGemini } from "./gemini.ts";
import type { ParametersSchema } from "./json-schema.ts";
import { type OpenAiTool, toOpenAi, toOpenAiStrict } from "./openai.ts";

export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ParametersSchema;
}

/** A tool as MCP's `tools/list` shows it. */
export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: ParametersSchema;
  readonly annotations?: ToolAnnotations;
}

export interface ProviderSchemas {
  readonly openai: OpenAiTool;
  readonly "openai-strict": OpenAiTool;
  readonly anthropic: AnthropicTool;
  readonly gemini: GeminiTool;
  readonly mcp: McpTool;
}

export type SchemaFormat = keyof ProviderSchemas;

export const SCHEMA_FORMATS: { readonly [F in SchemaFormat]: (tool: BaseTool) => ProviderSchemas[F] } = {
  openai: toOpenAi,
  "openai-strict": toOpenAiStrict,
  anthropic: toAnthropic,
  gemini: toGemini,
  mcp: toMcp,
};

function toAnthropic(tool: BaseTool): AnthropicTool {
  return { name: tool.name, description: tool.description, input_schema: tool.toJsonSchema() };
}

function toMcp(tool: BaseTool): McpTool {
  const { name, title, description, annotations } = tool;
  return {
    name,
    ...defined({ title }),
    description,
    inputSchema: tool.toJsonSchema(),
    ...defined({ annotations: annotations && { ...annotations } }),
  };
}
