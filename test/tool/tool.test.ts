import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { NacreError } from "../../src/support/errors.ts";
import { createContext } from "../../src/tool/context.ts";
import { ToolResult } from "../../src/tool/result.ts";
import { CommandTool, context, EveryKindTool, toolTaking } from "./sample-tools.ts";

const call = { command: "ls" };

describe("execute", () => {
  it("applies defaults", async () => {
    const result = await new EveryKindTool().execute(context, { text: "abc" });
    expect(result.metadata.args).toEqual({ text: "abc", flag: false, mode: "default" });
  });

  it("reads null for an optional parameter as absent", async () => {
    const args = { text: "abc", whole: null, mode: null, tags: null, where: { line: 1, column: null } };
    const result = await new EveryKindTool().execute(context, args);
    expect(result.metadata.args).toEqual({ text: "abc", flag: false, mode: "default", where: { line: 1 } });
  });

  it("passes null on to a parameter that accepts null", async () => {
    const result = await new EveryKindTool().execute(context, { text: "abc", maybe: null });
    expect(result.metadata.args).toHaveProperty("maybe", null);
  });

  it("refuses null for a required parameter", async () => {
    const result = await new CommandTool().execute(context, { command: null });
    expect(result.error).toBe("Parameter command must be a string, got null");
  });

  it("keeps the code of a NacreError", async () => {
    const tool = new CommandTool(() => {
      throw new NacreError("shell_not_found", "Shell not found: x");
    });
    const result = await tool.execute(context, call);
    expect(result).toMatchObject({ success: false, code: "shell_not_found", error: "Shell not found: x" });
  });

  it.each([
    ["an error", new Error("boom"), "boom"],
    ["an error without a message", new RangeError(""), "RangeError"],
    ["a string", "plain", "plain"],
    ["undefined", undefined, "undefined"],
    ["an empty string", "", "string"],
    [
      "an object that cannot be converted to a string",
      Object.create(null),
      "something that cannot be described was thrown",
    ],
  ])("turns a thrown value into an internal failure: %s", async (_, thrown, error) => {
    const tool = new CommandTool(() => {
      throw thrown;
    });
    expect(await tool.execute(context, call)).toMatchObject({ success: false, code: "internal", error });
  });

  it("fails when a tool returns no result", async () => {
    const result = await new CommandTool(() => undefined).execute(context, call);
    expect(result).toMatchObject({ code: "internal", error: expect.stringContaining("Command returned") });
  });

  it("fails, and does not throw, without a context", async () => {
    const result = await new CommandTool().execute(null as never, call);
    expect(result).toMatchObject({ success: false, code: "internal" });
  });

  it("reports an internal failure for a schema that JSON Schema cannot express", async () => {
    const result = await toolTaking(z.object({ when: z.date() })).execute(context, {});
    expect(result.code).toBe("internal");
  });
});

describe("abort", () => {
  it("returns without running the tool if the signal is already aborted", async () => {
    const body = vi.fn();
    const signal = AbortSignal.abort();
    const result = await new CommandTool(body).execute(createContext({ workingDir: "/", signal }), call);
    expect(result).toMatchObject({ code: "aborted", error: "Call to Command was aborted" });
    expect(body).not.toHaveBeenCalled();
  });

  it("reports the caller's reason", async () => {
    const signal = AbortSignal.abort(new Error("user pressed stop"));
    const result = await new CommandTool().execute(createContext({ workingDir: "/", signal }), call);
    expect(result.error).toBe("Call to Command was aborted: user pressed stop");
  });

  it("is recognized if the tool throws an AbortError", async () => {
    const tool = new CommandTool(() => {
      throw new DOMException("stop", "AbortError");
    });
    expect((await tool.execute(context, call)).code).toBe("aborted");
  });

  it("is recognized from the aborted signal, whatever value the tool throws", async () => {
    const controller = new AbortController();
    const tool = new CommandTool(() => {
      controller.abort();
      throw new Error("socket closed");
    });
    const { signal } = controller;
    expect((await tool.execute(createContext({ workingDir: "/", signal }), call)).code).toBe("aborted");
  });
});

describe("progress", () => {
  const reporting = new CommandTool((ctx) => {
    ctx.onProgress?.({ message: "working" });
    ctx.onProgress?.({ message: "still working" });
    return ToolResult.ok("done");
  });

  it("reaches the listener", async () => {
    const onProgress = vi.fn();
    const result = await reporting.execute(createContext({ workingDir: "/", onProgress }), call);
    expect(onProgress.mock.calls).toEqual([[{ message: "working" }], [{ message: "still working" }]]);
    expect(result.notes).toEqual([]);
  });

  it("does not break the call if the listener throws, and adds one note", async () => {
    const onProgress = () => {
      throw new Error("listener broke");
    };
    const result = await reporting.execute(createContext({ workingDir: "/", onProgress }), call);
    expect(result).toMatchObject({ success: true, output: "done" });
    expect(result.notes).toEqual(["The progress listener failed: listener broke"]);
  });

  it("does not leave the rejection of an async listener unhandled", async () => {
    const onProgress = async () => {
      throw new Error("async listener broke");
    };
    const slow = new CommandTool(async (ctx) => {
      ctx.onProgress?.({ message: "working" });
      await new Promise(setImmediate);
      return ToolResult.ok("done");
    });
    const result = await slow.execute(createContext({ workingDir: "/", onProgress }), call);
    expect(result.notes).toEqual(["The progress listener failed: async listener broke"]);
  });
});
