import { describe, expect, it } from "vitest";
import { ToolResult } from "../../src/tool/result.ts";

describe("ToolResult", () => {
  it("is a success with output and metadata", () => {
    const result = ToolResult.ok("hello\n", { exit_code: 0 });
    expect(result).toMatchObject({ success: true, output: "hello\n", metadata: { exit_code: 0 }, notes: [] });
    expect(result.error).toBeUndefined();
    expect(result.code).toBeUndefined();
  });

  it("is a failure that still contains its output", () => {
    const result = ToolResult.fail("Command failed with exit code 3", {
      code: "exit_nonzero",
      output: "half\n",
      metadata: { exit_code: 3 },
    });
    expect(result).toMatchObject({ success: false, code: "exit_nonzero", output: "half\n" });
    expect(result.toDisplay()).toBe("Command failed with exit code 3\nhalf\n");
  });

  it("has an error message even if none was given", () => {
    expect(ToolResult.fail("", { code: "timed_out" }).error).toBe("timed_out");
  });

  it("cannot be changed, not even through the objects that it was created from", () => {
    const metadata = { leftovers: [{ pid: 1 }] };
    const notes = ["first"];
    const result = ToolResult.ok("x", metadata, { notes });
    metadata.leftovers.push({ pid: 2 });
    notes.push("second");
    expect(result.metadata.leftovers).toEqual([{ pid: 1 }]);
    expect(result.notes).toEqual(["first"]);
    expect(() => Object.assign(result, { output: "y" })).toThrow(TypeError);
    expect(() => Object.assign(result.metadata, { more: 1 })).toThrow(TypeError);
    expect(() => Object.assign(result.metadata.leftovers?.[0] ?? {}, { pid: 3 })).toThrow(TypeError);
    expect(() => (result.notes as string[]).push("third")).toThrow(TypeError);
  });

  it("keeps dates and null-prototype objects in metadata", () => {
    const at = new Date(0);
    const bare = Object.assign(Object.create(null), { a: 1 });
    expect(ToolResult.ok("", { at, bare }).metadata).toEqual({ at, bare: { a: 1 } });
  });

  it("refuses metadata that contains a cycle", () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    expect(() => ToolResult.ok("", loop)).toThrow(/cycle/);
  });

  it("allows the same object twice in metadata", () => {
    const twice = { pid: 1 };
    expect(ToolResult.ok("", { a: twice, b: twice }).metadata).toEqual({ a: { pid: 1 }, b: { pid: 1 } });
  });

  it("returns a new result when notes are added", () => {
    const failed = ToolResult.fail("no", { code: "aborted", metadata: { a: 1 } });
    const noted = failed.withNotes("one");
    expect(failed.notes).toEqual([]);
    expect(noted).toMatchObject({ success: false, error: "no", code: "aborted", notes: ["one"] });
    expect(ToolResult.ok("x").withNotes("n")).toMatchObject({ success: true, error: undefined });
  });

  it("puts every note on one line", () => {
    expect(ToolResult.ok("", {}, { notes: [" a\r\n  b\nc "] }).notes).toEqual(["a b c"]);
  });
});

describe("toDisplay", () => {
  const fail = { code: "internal" } as const;
  it.each([
    ["output only, with its newlines", ToolResult.ok("\n\nout\n\n"), "\n\nout\n\n"],
    ["nothing", ToolResult.ok(""), ""],
    ["output, then notes", ToolResult.ok("out", {}, { notes: ["n1", "n2"] }), "out\nn1\nn2"],
    ["output that ends its line, then notes", ToolResult.ok("out\n", {}, { notes: ["n"] }), "out\nn"],
    ["notes only", ToolResult.ok("", {}, { notes: ["n"] }), "n"],
    ["an error only", ToolResult.fail("bad", fail), "bad"],
    ["error, output, notes", ToolResult.fail("bad", { ...fail, output: "out", notes: ["n"] }), "bad\nout\nn"],
  ])("shows %s", (_, result, text) => {
    expect(result.toDisplay()).toBe(text);
  });
});

describe("toWire", () => {
  it("is flat, with the metadata keys next to the output", () => {
    expect(ToolResult.ok("out", { exit_code: 0 }).toWire()).toEqual({
      output: "out",
      exit_code: 0,
      notes: [],
    });
  });

  it("contains error and error_code on failure", () => {
    const result = ToolResult.fail("bad", {
      code: "timed_out",
      output: "o",
      metadata: { a: 1 },
      notes: ["n"],
    });
    expect(result.toWire()).toEqual({
      output: "o",
      a: 1,
      error: "bad",
      error_code: "timed_out",
      notes: ["n"],
    });
  });

  it("drops metadata keys with reserved names", () => {
    const result = ToolResult.ok("real", { output: "x", error: "x", error_code: "x", notes: "x", kept: 1 });
    expect(result.toWire()).toEqual({ output: "real", kept: 1, notes: [] });
  });

  it("can be converted to JSON and back", () => {
    const wire = ToolResult.ok("o", JSON.parse('{"__proto__": {"x": 1}, "a": [1]}')).toWire();
    expect(JSON.parse(JSON.stringify(wire))).toMatchObject({ output: "o", a: [1] });
    expect(Object.getPrototypeOf(wire)).toBe(Object.prototype);
  });
});
