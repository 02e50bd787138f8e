// The public entry `nacre/tool`: everything needed to write, register and call tools.

export { ERROR_CODES, type ErrorCode, NacreError, type RefusalDetails } from "./support/errors.ts";
export {
  type ApprovalAnswer,
  type ApprovalAsking,
  type ApprovalEffect,
  type ApprovalRequest,
  type ContextOptions,
  createContext,
  type ExecutionContext,
  type RememberWish,
  type ToolProgress,
} from "./tool/context.ts";
export type { ToolExecution } from "./tool/execution-record.ts";
export { type ToolCall, ToolExecutor, type ToolExecutorOptions, type ToolHook } from "./tool/executor.ts";
export { type ParameterType, ToolParameter } from "./tool/input.ts";
export { ToolRegistry } from "./tool/registry.ts";
export {
  type FailureDetails,
  type ResultNotes,
  type ToolFailure,
  ToolResult,
  type ToolSuccess,
  type WireResult,
} from "./tool/result.ts";
export type { AnthropicTool, McpTool, ProviderSchemas, SchemaFormat } from "./tool/schemas/formats.ts";
export type { GeminiSchema, GeminiTool } from "./tool/schemas/gemini.ts";
export type { JsonSchema, JsonType } from "./tool/schemas/json-schema.ts";
export type { OpenAiTool } from "./tool/schemas/openai.ts";
export { BaseTool, TOOL_CATEGORIES, type ToolAnnotations, type ToolCategory } from "./tool/tool.ts";
