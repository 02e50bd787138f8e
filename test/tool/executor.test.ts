import { afterEach, describe, expect, it, vi } from "vitest";
import { HOOK_MAX_MS } from "../../src/support/limits.ts";
import { createContext, type ExecutionContext } from "../../src/tool/context.ts";
import { ToolExecutor, type ToolExecutorOptions } from "../../src/tool/executor.ts";
import { ToolRegistry } from "../../src/tool/registry.ts";
import { ToolResult } from "../../src/tool/result.ts";
import { CommandTool, context } from "./sample-tools.ts";

const args = { command: "ls" };

function executorFor(
  body?: (context: ExecutionContext) => unknown,
  options: ToolExecutorOptions = {},
): ToolExecutor {
  const registry = new ToolRegistry();
  registry.register(new CommandTool(body));
  return new ToolExecutor({ registry, ...options });
}

afterEach(() => {
  vi.useRealTimers();
});

describe("ToolExecutor", () => {
  it("runs a tool by name", async () => {
    expect(await executorFor().execute("Command", context, args)).toMatchObject({
      success: true,
      output: "ran",
    });
  });

  it("answers a call of an unknown tool with the list of known tools", async () => {
    const result = await executorFor().execute("bash", context, args);
    expect(result).toMatchObject({ success: false, code: "unknown_tool" });
    expect(result.error).toBe('Unknown tool: "bash". Available tools: Command');
  });

  it("does not repeat the long name of an unknown tool", async () => {
    const executor = executorFor();
    const result = await executor.execute("x".repeat(10_000_000), context, args);
    expect(result.error?.length).toBeLessThan(200);
    expect(executor.history()[0]?.tool.length).toBeLessThan(5000);
  });

  it("uses the shared registry by default", () => {
    expect(new ToolExecutor().registry).toBe(ToolRegistry.shared());
  });

  it("returns the schemas of its registry", () => {
    const executor = executorFor();
    expect(executor.getAllSchemas("anthropic")).toEqual(executor.registry.getAllSchemas("anthropic"));
  });

  it("does not throw without a context", async () => {
    expect((await executorFor().execute("Command", undefined as never, args)).code).toBe("internal");
  });
});

describe("history", () => {
  it("records tool, arguments, start, duration and outcome of every call", async () => {
    const executor = executorFor();
    await executor.execute("Command", context, args);
    await executor.execute("Command", context, {});
    await executor.execute("nope", context, null);
    expect(executor.history()).toEqual([
      {
        tool: "Command",
        arguments: args,
        startedAt: expect.any(Number),
        durationMs: expect.any(Number),
        outcome: "success",
      },
      expect.objectContaining({ arguments: {}, outcome: "invalid_input" }),
      expect.objectContaining({ tool: "nope", arguments: null, outcome: "unknown_tool" }),
    ]);
  });

  it("drops the oldest calls above its limit", async () => {
    const executor = executorFor(undefined, { historyMaxCount: 2 });
    for (const command of ["a", "b", "c"]) await executor.execute("Command", context, { command });
    expect(executor.history().map((execution) => execution.arguments)).toEqual([
      { command: "b" },
      { command: "c" },
    ]);
  });

  it("stores a copy of the arguments, with long values truncated", async () => {
    const executor = executorFor();
    const given = { command: "x".repeat(10_000_000) };
    await executor.execute("Command", context, given);
    const kept = executor.history()[0]?.arguments as typeof given;
    expect(kept).not.toBe(given);
    expect(kept.command).toMatch(/^x+… \(10000000 characters\)$/);
    expect(kept.command.length).toBeLessThan(5000);
  });
});

describe("cancellation", () => {
  const cancellable = (controller: AbortController) =>
    createContext({ workingDir: "/", signal: controller.signal });

  it("before the start prevents the run", async () => {
    const body = vi.fn();
    const controller = new AbortController();
    controller.abort();
    const result = await executorFor(body).execute("Command", cancellable(controller), args);
    expect(result.code).toBe("aborted");
    expect(body).not.toHaveBeenCalled();
  });

  it("gives a tool time to return its partial result", async () => {
    const controller = new AbortController();
    const executor = executorFor(async ({ signal }) => {
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      await new Promise(setImmediate);
      return ToolResult.fail("aborted by caller", { code: "aborted", output: "partial" });
    });
    const running = executor.execute("Command", cancellable(controller), args);
    await new Promise(setImmediate);
    controller.abort();
    expect(await running).toMatchObject({ code: "aborted", output: "partial" });
  });

  it("returns a result after the grace period if the tool ignores the signal", async () => {
    vi.useFakeTimers();
    const controller = new AbortController();
    const executor = executorFor(() => new Promise(() => {}));
    const running = executor.execute("Command", cancellable(controller), args);
    await vi.advanceTimersByTimeAsync(0);
    controller.abort(new Error("enough"));
    await vi.advanceTimersByTimeAsync(9_999);
    expect(executor.history()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    const result = await running;
    expect(result).toMatchObject({ code: "aborted", error: "Call to Command was aborted: enough" });
    expect(result.notes).toEqual(["Command did not stop within 10000ms and may still be running"]);
    expect(executor.history()[0]?.outcome).toBe("aborted");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("works even if a hook aborts the signal", async () => {
    const controller = new AbortController();
    const hooks = [{ before: () => controller.abort() }];
    const result = await executorFor(undefined, { hooks }).execute("Command", cancellable(controller), args);
    expect(result.code).toBe("aborted");
  });

  it("removes its listener from a signal that is not aborted", async () => {
    const controller = new AbortController();
    const remove = vi.spyOn(controller.signal, "removeEventListener");
    await executorFor().execute("Command", cancellable(controller), args);
    expect(remove).toHaveBeenCalledOnce();
  });
});

describe("hooks", () => {
  it("are called before and after each call, in order", async () => {
    const seen: unknown[] = [];
    const hook = (name: string) => ({
      before: ({ tool }: { tool: string }) => void seen.push([name, "before", tool]),
      after: async (_: unknown, result: ToolResult, execution: { outcome: string }) => {
        seen.push([name, "after", result.output, execution.outcome]);
      },
    });
    const executor = executorFor(() => seen.push("run") && ToolResult.ok("out"), {
      hooks: [hook("audit"), {}, hook("metrics")],
    });
    await executor.execute("Command", context, args);
    expect(seen).toEqual([
      ["audit", "before", "Command"],
      ["metrics", "before", "Command"],
      "run",
      ["audit", "after", "out", "success"],
      ["metrics", "after", "out", "success"],
    ]);
  });

  it("that throw do not break the call, and a note reports each error", async () => {
    const hooks = [
      {
        before: () => {
          throw new Error("no disk");
        },
        after: async () => {
          throw new Error("no network");
        },
      },
    ];
    const result = await executorFor(undefined, { hooks }).execute("Command", context, args);
    expect(result).toMatchObject({ success: true, output: "ran" });
    expect(result.notes).toEqual([
      "A hook before the call failed: no disk",
      "A hook after the call failed: no network",
    ]);
  });

  it("that hang do not block the call", async () => {
    vi.useFakeTimers();
    const hooks = [{ before: () => new Promise<void>(() => {}) }];
    const running = executorFor(undefined, { hooks }).execute("Command", context, args);
    await vi.advanceTimersByTimeAsync(HOOK_MAX_MS);
    expect((await running).notes).toEqual([`A hook before the call failed: not done after ${HOOK_MAX_MS}ms`]);
  });
});
