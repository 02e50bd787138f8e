// The types that a host sees: results are typed per tool, options are closed, and adapters have the types of their SDKs.
import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { FunctionTool, ShellTool } from "@openai/agents";
import type { ToolSet } from "ai";
import { expectTypeOf, test } from "vitest";
import { aiSdkTools } from "../src/adapters/ai-sdk.ts";
import { type anthropicBash, anthropicTools } from "../src/adapters/anthropic.ts";
import { langchainTools } from "../src/adapters/langchain.ts";
import { openaiAgentsTools, type openaiShellTool } from "../src/adapters/openai-agents.ts";
import {
  type ApprovalRequest,
  type BashMetadata,
  type BashStartMetadata,
  BashTool,
  type createToolkit,
  type DangerousPattern,
  type ErrorCode,
  type JudgedSession,
  type KillShellMetadata,
  type MetadataOf,
  type ModesMetadata,
  type NacreError,
  type OutputPiece,
  type RunResult,
  ShellStatus,
  type Toolkit,
  type ToolkitOptions,
  type ToolResult,
  type ToolSuccess,
} from "../src/index.ts";

test("metadata is typed by the name of the tool", () => {
  expectTypeOf<MetadataOf<"Bash">>().toEqualTypeOf<BashMetadata>();
  expectTypeOf<MetadataOf<"KillShell">>().toEqualTypeOf<KillShellMetadata>();
  expectTypeOf<MetadataOf<"bash">>().toEqualTypeOf<ModesMetadata>();
  expectTypeOf<MetadataOf<"mine">>().toEqualTypeOf<Record<string, unknown>>();
  const call = (kit: Toolkit) => kit.call("Bash", { command: "ls" });
  expectTypeOf(call).returns.resolves.toEqualTypeOf<ToolResult<BashMetadata>>();
  expectTypeOf<ToolSuccess<BashMetadata>["metadata"]["duration_ms"]>().toEqualTypeOf<number>();
  expectTypeOf<BashMetadata["exit_code"]>().toEqualTypeOf<number | null>();
});

test("the types check the tool name and the arguments of a call", () => {
  const calls = (kit: Toolkit<"shells">, name: string) => [
    kit.call("Bash", { command: "ls", run_in_background: true }),
    kit.call("BashOutput", { bash_id: "shell_1" }),
    kit.call(name, { any: "thing" }),
    // @ts-expect-error no such tool
    kit.call("Bsh", { command: "ls" }),
    // @ts-expect-error no such parameter
    kit.call("Bash", { comand: "ls" }),
    // @ts-expect-error an unknown parameter next to a known one
    kit.call("Bash", { command: "ls", timeot: 5 }),
    // @ts-expect-error a number
    kit.call("Bash", { command: 1 }),
    // @ts-expect-error a tool of the other dialect
    kit.call("bash", { command: "ls" }),
    // @ts-expect-error no such option
    kit.call("Bash", { command: "ls" }, { timeout: 5 }),
  ];
  expectTypeOf(calls).returns.toBeArray();
});

test("a background start has an id and no exit code", () => {
  const start = (kit: Toolkit) => kit.call("Bash", { command: "ls", run_in_background: true });
  expectTypeOf(start).returns.resolves.toEqualTypeOf<ToolResult<BashStartMetadata>>();
  expectTypeOf<BashStartMetadata["bash_id"]>().toEqualTypeOf<string>();
});

test("a result is a union: success decides which other fields are set", () => {
  const read = (result: ToolResult<BashMetadata>) => {
    if (!result.success) {
      expectTypeOf(result.error).toEqualTypeOf<string>();
      expectTypeOf(result.code).toEqualTypeOf<ErrorCode>();
      return result.error.length;
    }
    expectTypeOf(result.error).toEqualTypeOf<undefined>();
    expectTypeOf(result.metadata.truncated).toEqualTypeOf<boolean>();
    return result.output.length;
  };
  expectTypeOf(read).returns.toEqualTypeOf<number>();
});

test("a run is a promise and an async iterable, and the error of a refusal has a rule", () => {
  const run = (kit: Toolkit) => kit.run("ls", { onOutput: ({ stream, text }) => `${stream}${text}` });
  expectTypeOf(run).returns.toExtend<Promise<RunResult>>();
  expectTypeOf(run).returns.toExtend<AsyncIterable<OutputPiece>>();
  expectTypeOf((kit: Toolkit) => kit.sh`cp ${"a"} ${["b", 2]}`).returns.toExtend<Promise<RunResult>>();
  // @ts-expect-error no such option
  expectTypeOf((kit: Toolkit) => kit.run("ls", { timeout: 5 })).not.toBeAny();
  expectTypeOf<NacreError["rule"]>().toEqualTypeOf<string | undefined>();
});

test("the types of options allow no unknown option, and require none", () => {
  expectTypeOf<{ workingDir: string }>().toExtend<ToolkitOptions>();
  expectTypeOf<object>().toExtend<ToolkitOptions>();
  expectTypeOf<{ workingDir: string; dialect: "other" }>().not.toExtend<ToolkitOptions>();
  const create = (make: typeof createToolkit) => [make(), make({ dialect: "modes" })] as const;
  expectTypeOf(create).returns.toEqualTypeOf<
    readonly [Promise<Toolkit<"shells">>, Promise<Toolkit<"modes">>]
  >();
  expectTypeOf<Toolkit>().toExtend<AsyncDisposable>();
});

test("ShellStatus is a type and a value, and the list of dangerous patterns is readonly", () => {
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

test("adapters return the types that their SDKs accept", () => {
  const shells = (kit: Toolkit<"shells">) => aiSdkTools(kit);
  expectTypeOf(shells).returns.toExtend<ToolSet>();
  expectTypeOf<keyof ReturnType<typeof shells>>().toEqualTypeOf<"Bash" | "BashOutput" | "KillShell">();
  const modes = (kit: Toolkit<"modes">) => aiSdkTools(kit);
  expectTypeOf<keyof ReturnType<typeof modes>>().toEqualTypeOf<"bash">();
  expectTypeOf((kit: Toolkit<"shells">) => openaiAgentsTools(kit)[0]?.name).returns.toEqualTypeOf<
    "Bash" | "BashOutput" | "KillShell" | undefined
  >();
  expectTypeOf((kit: Toolkit<"shells">) => anthropicTools(kit)[0]?.name).returns.toEqualTypeOf<
    "Bash" | "BashOutput" | "KillShell" | undefined
  >();
  expectTypeOf((kit: Toolkit) => openaiAgentsTools(kit)).returns.toExtend<FunctionTool[]>();
  expectTypeOf<typeof openaiShellTool>().returns.toEqualTypeOf<ShellTool>();
  expectTypeOf((kit: Toolkit) => langchainTools(kit)).returns.toExtend<DynamicStructuredTool[]>();
  expectTypeOf<ReturnType<typeof anthropicBash>["type"]>().toExtend<string | null | undefined>();
});
