// Text of unlimited length: docs/decisions/0019-no-repeated-class-on-long-text.md.
import { setFlagsFromString } from "node:v8";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

const LONG = "a".repeat(9_000_000);

beforeAll(() => {
  setFlagsFromString("--no-regexp-optimization");
  // The modules must compile their expressions again.
  vi.resetModules();
});

afterAll(() => {
  setFlagsFromString("--regexp-optimization");
  vi.resetModules();
});

test.each([
  ["printable text", `${LONG}\r${LONG}\x1b[0m!`, `${LONG}!`],
  ["the parameters of a control sequence", `\x1b[${"0".repeat(9_000_000)}m!`, "!"],
  ["a title", `\x1b]0;${LONG}\x07!`, "!"],
  ["a title without an end", `\x1b]${LONG}`, LONG],
])("%s can be 9 MB long", async (_what, text, plain) => {
  const { plainText } = await import("../../src/text/terminal.ts");
  expect(plainText(text) === plain).toBe(true);
});

test("a filtered line can be 9 MB long", async () => {
  const { filterLines } = await import("../../src/text/filter.ts");
  const pattern = { source: "^short$", matches: (line: string) => line === "short" };
  expect(filterLines(`${LONG}\nshort\n${LONG}`, pattern)).toEqual({ text: "short\n", kept: 1, skipped: 2 });
});

test("a variable and an alias of a session can be 9 MB long", async () => {
  const { markOf, statePieces, unquoted } = await import("../../src/session/state-pieces.ts");
  const parts = (["options", "functions", "bodies", "variables", "rest"] as const).map((part) =>
    markOf("1", part),
  );
  const { variables } = statePieces(`${parts.slice(0, 4).join("")}declare -- V="${LONG}"\n${parts[4]}`, "1");
  expect(variables.get("V")?.assignment === `V="${LONG}"`).toBe(true);
  expect(unquoted(`'${LONG}'`) === LONG).toBe(true);
});
