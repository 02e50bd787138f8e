// The formats a tool can be shown in, by name. To add one: a file beside this one, and a line here.

import type { BaseTool } from "../tool.ts";
import { type AnthropicTool, toAnthropic } from "./anthropic.ts";
import { type GeminiTool, toGemini } from "./gemini.ts";
import { type McpTool, toMcp } from "./mcp.ts";
import { type OpenAiTool, toOpenAi, toOpenAiStrict } from "./openai.ts";

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
