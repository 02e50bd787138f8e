import { expect, it } from "vitest";
import { EXECUTION_ARGUMENTS_MAX_CHARS } from "../../src/support/limits.ts";
import { boundedCopy } from "../../src/tool/execution-record.ts";

it("boundedCopy copies plain data", () => {
  const data = { a: [1, "two", null, true], b: { c: undefined } };
  expect(boundedCopy(data)).toEqual(data);
});

it("boundedCopy truncates long strings to a common limit", () => {
  const copy = boundedCopy({ a: "x".repeat(3000), b: "y".repeat(3000), c: "z" }) as Record<string, string>;
  const kept = Object.values(copy)
    .join("")
    .replace(/… \(\d+ characters\)/g, "");
  expect(kept.length).toBeLessThanOrEqual(EXECUTION_ARGUMENTS_MAX_CHARS);
  expect(copy).toMatchObject({ a: "x".repeat(3000), c: "… (1 characters)" });
});

it("boundedCopy terminates on a cycle", () => {
  const loop: { self?: unknown } = {};
  loop.self = loop;
  expect(JSON.stringify(boundedCopy(loop)).length).toBeLessThan(2000);
});

it("boundedCopy counts the values that it leaves out", () => {
  const items = boundedCopy(Array.from({ length: 1000 }, (_, i) => i)) as unknown[];
  expect(items.at(-1)).toBe("[… 901 more]");
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i]));
  expect(boundedCopy(many)).toHaveProperty("…", "[901 more]");
});

it("boundedCopy calls no getter and keeps no function", () => {
  const withGetter = {
    get command(): string {
      throw new Error("called");
    },
    run: () => 1,
    mark: Symbol("m"),
  };
  expect(boundedCopy(withGetter)).toEqual({ command: "[getter]", run: "[function]", mark: "[symbol]" });
});

it("boundedCopy replaces an unreadable value with a marker", () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  expect(boundedCopy(proxy)).toBe("[unreadable]");
});
