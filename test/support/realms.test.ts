import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { abortReason, throwIfAborted } from "../../src/support/abort.ts";
import { messageOf, NacreError } from "../../src/support/errors.ts";
import { isError, isErrorNamed, isRegExp, isThenable } from "../../src/support/realms.ts";
import { systemCode } from "../../src/support/system-error.ts";
import { failureOf } from "../../src/tool/result.ts";

const there = (script: string): unknown => runInNewContext(script);

test.each([
  ["an error of this realm", new TypeError("x"), true],
  ["an error of another one", there("new TypeError('x')"), true],
  ["a subclass of another one", there("new (class Odd extends Error {})('x')"), true],
  ["an aggregate", there("new AggregateError([], 'x')"), true],
  ["a DOMException", new DOMException("x", "AbortError"), true],
  [
    "an error that calls itself something else",
    Object.assign(new Error("x"), { [Symbol.toStringTag]: "Odd" }),
    true,
  ],
  [
    "an error made by a constructor function",
    Object.create(Error.prototype, { message: { value: "x" } }),
    true,
  ],
  ["a string", "Error: x", false],
  ["null", null, false],
  ["undefined", undefined, false],
  ["a plain object", { message: "x" }, false],
  ["a function", () => {}, false],
  ["an array of another realm", there("[]"), false],
  ["a proxy that throws whatever is asked of it", hostile(), false],
])("whether %s is an error is known", (_title, value, expected) => {
  expect(isError(value)).toBe(expected);
});

test("errors, expressions and promises of another realm are known by what they are", () => {
  expect(isErrorNamed(there("new RangeError('x')"), "RangeError")).toBe(true);
  expect(isErrorNamed(there("new RangeError('x')"), "TypeError")).toBe(false);
  expect([isRegExp(there("/x/")), isRegExp({ source: "x", test: () => true }), isRegExp("/x/")]).toEqual([
    true,
    false,
    false,
  ]);
  expect([
    isThenable(there("Promise.resolve()")),
    isThenable(there("({ then: 1 })")),
    isThenable(undefined),
  ]).toEqual([true, false, false]);
});

test("messages and codes of errors of another realm are read", () => {
  const foreign = there("Object.assign(new Error('no such file'), { code: 'ENOENT' })");
  expect([messageOf(foreign), systemCode(foreign)]).toEqual(["no such file", "ENOENT"]);
  expect(systemCode({ code: "ENOENT" })).toBeUndefined();
});

test("a thrown proxy that throws on every access still becomes a failed result", () => {
  expect(failureOf(hostile(), "Bash", undefined)).toMatchObject({ success: false, code: "internal" });
  expect(hostile() instanceof NacreError).toBe(false);
});

test("an aborted signal without a reason is an abort", () => {
  const bare = { aborted: true } as AbortSignal;
  expect(isErrorNamed(abortReason(bare), "AbortError")).toBe(true);
  expect(() => throwIfAborted(bare)).toThrow("aborted");
  expect(() => throwIfAborted(undefined)).not.toThrow();
  expect(() => throwIfAborted(AbortSignal.abort("because"))).toThrow("because");
});

function hostile(): object {
  const refuse = () => {
    throw new Error("not for you");
  };
  return new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse, ownKeys: refuse });
}
