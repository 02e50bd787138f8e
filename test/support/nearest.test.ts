import { expect, test } from "vitest";
import { nearest } from "../../src/support/nearest.ts";

const NAMES = ["workingDir", "dialect", "policy", "policyFile"];

test.each([
  ["workingdir", "workingDir"],
  ["workingDri", "workingDir"],
  ["dialekt", "dialect"],
  ["polcy", "policy"],
  ["policyfile", "policyFile"],
])("for %s, the suggestion is %s", (word, meant) => {
  expect(nearest(word, NAMES)).toBe(meant);
});

test.each(["x", "timeout", ""])('"%s" is not similar to any name', (word) => {
  expect(nearest(word, NAMES)).toBeUndefined();
});
