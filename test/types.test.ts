// What a host's editor knows: results typed per tool, options closed, adapters in the types of their SDKs.
import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { FunctionTool, ShellTool } from "@openai/agents";
import type { ToolSet } from "ai";
import { expectTypeOf, test } from "vitest";
import type { aiSdkTools } from "../src/adapters/ai-sdk.ts";
import type { anthropicBash } from "../src/adapters/anthropic.ts";
import type { langchainTools } from "../src/adapters/langchain.ts";
import type { openaiAgentsTools, openaiShellTool } from "../src/adapters/openai-agents.ts";
import {
  type ApprovalRequest,
  type BashMetadata,
  BashTool,
  type createToolkit,
  type DangerousPattern,
  type JudgedSession,
  type KillShellMetadata,
  type MetadataOf,
  type ModesMetadata,
  ShellStatus,
  type Toolkit,
  type ToolkitOptions,
  type ToolResult,
} from "../src/index.ts";

test("metadata is typed by the name of the tool", () => {
  expectTypeOf<MetadataOf<"Bash">>().toEqualTypeOf<BashMetadata>();
  expectTypeOf<MetadataOf<"KillShell">>().toEqualTypeOf<KillShellMetadata>();
  expectTypeOf<MetadataOf<"bash">>().toEqualTypeOf<ModesMetadata>();
  expectTypeOf<MetadataOf<"mine">>().toEqualTypeOf<Record<string, unknown>>();
  const call = (kit: Toolkit) => kit.call("Bash", { command: "ls" });
  expectTypeOf(call).returns.resolves.toEqualTypeOf<ToolResult<BashMetadata>>();
  expectTypeOf<BashMetadata["exit_code"]>().toEqualTypeOf<number | null>();
});

test("options are closed, and only the directory is required", () => {
  expectTypeOf<{ workingDir: string }>().toExtend<ToolkitOptions>();
  expectTypeOf<object>().not.toExtend<ToolkitOptions>();
  expectTypeOf<{ workingDir: string; dialect: "other" }>().not.toExtend<ToolkitOptions>();
  expectTypeOf<typeof createToolkit>().returns.resolves.toEqualTypeOf<Toolkit>();
  expectTypeOf<Toolkit>().toExtend<AsyncDisposable>();
});

test("ShellStatus is a type and a value, and the patterns cannot be changed", () => {
  expectTypeOf(ShellStatus.TIMEOUT).toEqualTypeOf<"timeout">();
  expectTypeOf<"timeout">().toExtend<ShellStatus>();
  expectTypeOf(BashTool.DANGEROUS_PATTERNS).toEqualTypeOf<readonly DangerousPattern[]>();
  expectTypeOf<ReturnType<Toolkit["sessions"]>>().toEqualTypeOf<readonly JudgedSession[]>();
  expectTypeOf<ApprovalRequest["session"]>().toEqualTypeOf<string | null>();
});

test("events are typed by their name", () => {
  const listen = (kit: Toolkit) =>
    kit.on("verdict", (event) => {
      expectTypeOf(event.type).toEqualTypeOf<"verdict">();
      expectTypeOf(event.verdict).toEqualTypeOf<"allow" | "ask" | "deny">();
    });
  expectTypeOf(listen).returns.toEqualTypeOf<() => void>();
});

test("adapters give what their SDK takes", () => {
  expectTypeOf<typeof aiSdkTools>().returns.toEqualTypeOf<ToolSet>();
  expectTypeOf<typeof openaiAgentsTools>().returns.toEqualTypeOf<FunctionTool[]>();
  expectTypeOf<typeof openaiShellTool>().returns.toEqualTypeOf<ShellTool>();
  expectTypeOf<typeof langchainTools>().returns.toEqualTypeOf<DynamicStructuredTool[]>();
  expectTypeOf<ReturnType<typeof anthropicBash>["type"]>().toExtend<string | null | undefined>();
});
