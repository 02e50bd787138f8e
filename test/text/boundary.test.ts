import { expect, test } from "vitest";
import { boundaryAfter, boundaryBefore } from "../../src/text/boundary.ts";

test.each([
  ["plain letters", "abcd", 2, 2, 2],
  ["a surrogate pair", "a😀b", 2, 1, 3],
  ["a letter and its accent", "xe\u0301y", 2, 1, 3],
  ["joined emoji", "x👩\u200d👧y", 4, 1, 6],
  ["a skin tone", "x👍\u{1f3fd}y", 3, 1, 5],
  ["a return and its line feed", "a\r\nb", 2, 1, 3],
  ["the start", "abc", 0, 0, 0],
  ["the end", "abc", 3, 3, 3],
  ["beyond the end", "abc", 9, 3, 9],
])("%s is not split", (_, text, index, before, after) => {
  expect(boundaryBefore(text, index)).toBe(before);
  expect(boundaryAfter(text, index)).toBe(after);
});

test("the search ends in an endless combining sequence, but not inside a surrogate pair", () => {
  const marks = "\u0301".repeat(100);
  expect(boundaryBefore(`a${marks}`, 60)).toBe(60);
  expect(boundaryAfter(`a${marks}`, 20)).toBe(20);
  const tones = "\u{1f3fd}".repeat(100);
  expect(boundaryBefore(tones, 61)).toBe(60);
  expect(boundaryAfter(tones, 61)).toBe(62);
});

test("boundaries are found even in text with lone surrogates", () => {
  expect(boundaryBefore("a\ud83db", 2)).toBe(2);
  expect(boundaryAfter("a\ude00b", 1)).toBe(1);
});
