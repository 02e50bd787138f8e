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
  ["an error of another realm", there("new TypeError('x')"), true],
  ["an error subclass of another realm", there("new (class Odd extends Error {})('x')"), true],
  ["an aggregate", there("new AggregateError([], 'x')"), true],
  ["a DOMException", new DOMException("x", "AbortError"), true],
  ["an error with another toStringTag", Object.assign(new Error("x"), { [Symbol.toStringTag]: "Odd" }), true],
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
  ["a proxy that throws on every access", hostile(), false],
])("isError is correct for %s", (_title, value, expected) => {
  expect(isError(value)).toBe(expected);
});

test("errors, regular expressions and promises of another realm are recognized", () => {
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

test("a thrown proxy becomes a failed result, even if the proxy throws on every access", () => {
  expect(failureOf(hostile(), "Bash", undefined)).toMatchObject({ success: false, code: "internal" });
  expect(hostile() instanceof NacreError).toBe(false);
});

test("an aborted signal without a reason has an AbortError as its reason", () => {
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
