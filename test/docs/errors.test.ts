// The table in docs/errors.md has every error code, and no other.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ERROR_CODES } from "../../src/support/errors.ts";
import { root } from "./pages.ts";

test("docs/errors.md explains every error code", () => {
  const rows = readFileSync(join(root, "docs/errors.md"), "utf8").matchAll(/^\| `(\w+)` +\|/gm);
  expect([...rows].map(([, code = ""]) => code).sort()).toEqual([...ERROR_CODES].sort());
});
