import { expect, test } from "vitest";
import { checkCommand, checkSettable } from "../../src/shell/check-start.ts";

test("a command may hold anything but NUL", () => {
  expect(() => checkCommand("é\n\t\x01 # whatever")).not.toThrow();
  expect(() => checkCommand("")).not.toThrow();
  expect(() => checkCommand("\0")).toThrow("NUL character at offset 0");
  expect(() => checkCommand("echo é\0")).toThrow("NUL character at offset 6");
});

test("what bash reads before its job cannot be set, and the message says what to do", () => {
  expect(() => checkSettable({ PATH: "/bin", BASH_ENV: "/x", POSIXLY_CORRECT: "1" })).not.toThrow();
  expect(() => checkSettable({ SHELLOPTS: "xtrace" })).toThrow("put `set -o …` into the command");
  expect(() => checkSettable({ BASHOPTS: "dotglob" })).toThrow("put `shopt -s …` into the command");
});
