import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { BaseTool } from "../../src/tool/tool.ts";
import { BareTool, CommandTool, context, EveryKindTool, toolTaking } from "./sample-tools.ts";

const KNOWN = "Known parameters: command, timeout, run_in_background";

async function refusal(tool: BaseTool, args: unknown): Promise<string> {
  const result = await tool.execute(context, args);
  expect(result).toMatchObject({ success: false, code: "invalid_input", output: "" });
  return result.error ?? "";
}

describe("a message", () => {
  const every = new EveryKindTool();
  it.each<[string, object, string]>([
    ["a missing parameter", {}, "Missing required parameter: text (string)"],
    ["undefined as a missing parameter", { text: undefined }, "Missing required parameter: text (string)"],
    ["a wrong type", { text: 5 }, "Parameter text must be a string, got 5"],
    [
      "a number in a string, without converting it",
      { text: "abc", whole: "1000" },
      'Parameter whole must be an integer, got the string "1000"',
    ],
    [
      "a fraction for an integer",
      { text: "abc", positive: 1.5 },
      "Parameter positive must be an integer, got 1.5",
    ],
    ["NaN", { text: "abc", ratio: Number.NaN }, "Parameter ratio must be a number, got NaN"],
    ["Infinity", { text: "abc", ratio: -Infinity }, "Parameter ratio must be a number, got -Infinity"],
    ["a lower bound", { text: "abc", whole: 5 }, "Parameter whole must be at least 1000, got 5"],
    [
      "an exclusive lower bound",
      { text: "abc", positive: 0 },
      "Parameter positive must be greater than 0, got 0",
    ],
    ["an exclusive upper bound", { text: "abc", ratio: 1 }, "Parameter ratio must be less than 1, got 1"],
    [
      "an integer that a number cannot represent exactly",
      { text: "abc", positive: 2 ** 60 },
      "Parameter positive must be at most 9007199254740991, got 1152921504606847000",
    ],
    ["a step", { text: "abc", step: 7 }, "Parameter step must be a multiple of 5, got 7"],
    [
      "a string that is too short",
      { text: "a" },
      "Parameter text is too short: at least 2 characters, got 1",
    ],
    [
      "a string that is too long",
      { text: "abcdefghi" },
      "Parameter text is too long: at most 8 characters, got 9",
    ],
    [
      "a string with too few code points",
      { text: "😀" },
      "Parameter text is too short: at least 2 characters, got 1",
    ],
    [
      "an unknown choice",
      { text: "abc", mode: "fast" },
      'Parameter mode must be one of [default, slow, background], got the string "fast"',
    ],
    ["a pattern", { text: "abc", code: "A1" }, 'Parameter code must match /^[a-z]+$/, got the string "A1"'],
    ["too few items", { text: "abc", tags: [] }, "Parameter tags is too short: at least 1 item, got 0"],
    [
      "too many items",
      { text: "abc", tags: ["a", "b", "c", "d"] },
      "Parameter tags is too long: at most 3 items, got 4",
    ],
    ["an item", { text: "abc", tags: ["a", 2] }, "Parameter tags[1] must be a string, got 2"],
    [
      "a nested parameter",
      { text: "abc", where: { line: "1" } },
      'Parameter where.line must be an integer, got the string "1"',
    ],
    [
      "a nested parameter that is missing",
      { text: "abc", where: {} },
      "Missing required parameter: where.line (integer)",
    ],
    ["a union", { text: "abc", either: true }, "Parameter either must be a string or a number, got true"],
    [
      "a single choice",
      { text: "abc", version: "v2" },
      'Parameter version must be one of [v1], got the string "v2"',
    ],
    ["an object for a string", { text: {} }, "Parameter text must be a string, got an object"],
    ["an array for a string", { text: [] }, "Parameter text must be a string, got an array"],
    ["a symbol", { text: Symbol("s") }, "Parameter text must be a string, got a symbol"],
    ["a function", { text: () => 1 }, "Parameter text must be a string, got a function"],
    ["a bigint", { text: 1n }, "Parameter text must be a string, got a bigint"],
  ])("names %s", async (_, args, message) => {
    expect(await refusal(every, args)).toBe(message);
  });

  it("is the tool author's own message, if there is one", async () => {
    const args = { command: "x", timeout: 600_001 };
    expect(await refusal(new CommandTool(), args)).toBe("Timeout exceeds maximum: 600000ms");
  });

  it("lists all problems at once", async () => {
    const message = await refusal(new CommandTool(), { timeout: 5, run_in_background: "yes", cmd: "ls" });
    expect(message).toBe(
      [
        "Missing required parameter: command (string)",
        "Parameter timeout must be at least 1000, got 5",
        'Parameter run_in_background must be a boolean, got the string "yes"',
        `Unknown parameter: "cmd". ${KNOWN}`,
      ].join("; "),
    );
  });

  it("lists the unknown and the known parameters", async () => {
    const message = await refusal(new CommandTool(), { command: "x", a: 1, b: 2 });
    expect(message).toBe(`Unknown parameters: "a", "b". ${KNOWN}`);
  });

  it("lists unknown parameters inside objects and arrays of objects", async () => {
    const tool = toolTaking(z.object({ at: z.array(z.object({ x: z.int() })), open: z.looseObject({}) }));
    const args = { at: [{ x: 1 }, { x: 2, y: 3 }], open: { anything: 1 } };
    expect(await refusal(tool, args)).toContain('Unknown parameter: "at[1].y"');
  });

  it("reports a nested __proto__ as an unknown parameter", async () => {
    const args = JSON.parse('{"text": "abc", "where": {"line": 1, "__proto__": {}}}');
    const message = await refusal(every, args);
    expect(message).toBe('Unknown parameter: "where.__proto__". Known parameters: line, column');
  });

  it("reports that a tool has no parameters", async () => {
    expect(await refusal(new BareTool(), { x: 1 })).toBe(
      'Unknown parameter: "x". This tool takes no parameters',
    );
  });

  it("has a default text for a rule without a message", async () => {
    const tool = toolTaking(
      z.object({
        even: z.number().refine((n) => n % 2 === 0),
        odd: z.number().refine((n) => n % 2, "odd only"),
      }),
    );
    expect(await refusal(tool, { even: 1, odd: 2 })).toBe("Parameter even is not valid, got 1; odd only");
  });

  it("names all parameters if a rule covers the whole object, and names the format that a value needs", async () => {
    const both = toolTaking(z.object({ a: z.string().optional() }).refine(() => false));
    expect(await refusal(both, {})).toBe("The set of arguments is not valid, got an object");
    const mail = toolTaking(z.object({ to: z.string().startsWith("m"), url: z.url() }));
    expect(await refusal(mail, { to: "x", url: "y" })).toContain("Parameter url must be a valid url");
  });
});

describe("invalid input", () => {
  const loop: { command: string; self?: unknown } = { command: "x" };
  loop.self = loop;
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();

  it.each<[string, unknown, string]>([
    ["null", null, `Arguments must be an object of named parameters, got null. ${KNOWN}`],
    ["undefined", undefined, "got undefined"],
    ["an array", [{ command: "x" }], "got an array"],
    ["a string", '{"command":"x"}', "got the string"],
    ["a number", 5, "got 5"],
    ["a symbol", Symbol("x"), "got a symbol"],
    ["a function", () => 1, "got a function"],
    [
      "an own __proto__",
      JSON.parse('{"command":"x","__proto__":{"timeout":1}}'),
      'Unknown parameter: "__proto__"',
    ],
    ["an own constructor", { command: "x", constructor: 1 }, 'Unknown parameter: "constructor"'],
    ["an inherited parameter", Object.create({ command: "x" }), "Missing required parameter: command"],
    ["a cycle", loop, 'Unknown parameter: "self"'],
    ["NaN", { command: "x", timeout: Number.NaN }, "must be an integer, got NaN"],
    ["a huge integer", { command: "x", timeout: 2 ** 60 }, "Timeout exceeds maximum"],
    ["a cycle for a string", { command: loop }, "Parameter command must be a string, got an object"],
    [
      "a getter that throws",
      {
        get command() {
          throw new Error("ha");
        },
      },
      "Arguments could not be read: ha",
    ],
    [
      "a proxy that throws",
      new Proxy(
        {},
        {
          ownKeys() {
            throw new Error("no keys");
          },
        },
      ),
      "Arguments could not be read: no keys",
    ],
    ["a revoked proxy", revoked.proxy, "Arguments could not be read"],
    ["a revoked proxy for a string", { command: revoked.proxy }, "Arguments could not be read"],
  ])("fails with a clear message: %s", async (_, args, message) => {
    expect(await refusal(new CommandTool(), args)).toContain(message);
  });

  const tenMegabytes = "x".repeat(10_000_000);

  it("is truncated in the message if it is long", async () => {
    const wrongPlace = await refusal(new CommandTool(), { command: "x", timeout: tenMegabytes });
    expect(wrongPlace).toMatch(
      /^Parameter timeout must be an integer, got the string "x{80}"… \(10000000 characters\)$/,
    );
    const unknownName = await refusal(new CommandTool(), { command: "x", [tenMegabytes]: 1 });
    expect(unknownName.length).toBeLessThan(300);
    const whole = await refusal(new CommandTool(), tenMegabytes);
    expect(whole.length).toBeLessThan(300);
  });

  it("with very many problems gets a message of limited length", async () => {
    const tool = toolTaking(z.object({ items: z.array(z.string()) }));
    const message = await refusal(tool, { items: Array.from({ length: 100_000 }, () => 1) });
    expect(message).toMatch(/; and 99980 more problems$/);
    const unknown = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`p${i}`, 1]));
    expect(await refusal(tool, { items: [], ...unknown })).toMatch(/"p19" and 980 more/);
  });

  it.each<[string, object]>([
    ["a string of 10 MB", { command: tenMegabytes }],
    ["an object without a prototype", Object.assign(Object.create(null), { command: "x" })],
    ["a proxy of valid arguments", new Proxy({ command: "x" }, {})],
    ["symbol keys, which are not parameters", { command: "x", [Symbol("s")]: 1 }],
    ["an integer written as 5000.0", { command: "x", timeout: Number("5000.0") }],
  ])("accepts %s", async (_, args) => {
    expect(await new CommandTool().execute(context, args)).toMatchObject({ success: true });
  });
});
