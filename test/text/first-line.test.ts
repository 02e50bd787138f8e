import { expect, test } from "vitest";
import { firstLine } from "../../src/text/first-line.ts";

test.each([
  ["one line", "one line"],
  ["  spaces around  ", "spaces around"],
  ["first\nsecond", "first…"],
  ["123456789012", "12345678…", 9],
  ["12345678\nmore", "12345678…", 9],
  ["", ""],
])("the first line of %j is %j", (command, shown, maxChars?: number) => {
  expect(firstLine(command, maxChars)).toBe(shown);
});
