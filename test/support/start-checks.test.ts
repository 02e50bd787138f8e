import { expect, test } from "vitest";
import { checkCommand, checkSettable, checkTimeout } from "../../src/support/start-checks.ts";

test("a command may contain any character except NUL", () => {
  expect(() => checkCommand("é\n\t\x01 # whatever")).not.toThrow();
  expect(() => checkCommand("")).not.toThrow();
  expect(() => checkCommand("\0")).toThrow("NUL character at offset 0");
  expect(() => checkCommand("echo é\0")).toThrow("NUL character at offset 6");
});

test("variables that bash reads before its job cannot be set, and the message suggests an alternative", () => {
  expect(() => checkSettable({ PATH: "/bin", BASH_ENV: "/x", POSIXLY_CORRECT: "1" })).not.toThrow();
  expect(() => checkSettable({ SHELLOPTS: "xtrace" })).toThrow("put `set -o …` into the command");
  expect(() => checkSettable({ BASHOPTS: "dotglob" })).toThrow("put `shopt -s …` into the command");
});

test("a timeout is a positive, finite number or undefined", () => {
  for (const timeoutMs of [undefined, 0.5, 1, 86_400_000])
    expect(() => checkTimeout(timeoutMs)).not.toThrow();
  for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => checkTimeout(timeoutMs)).toThrow(`milliseconds above 0, or undefined; it is ${timeoutMs}`);
});
