// THIRD_PARTY_LICENSES.md names every package whose code is in dist, with its license.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { LICENSES_FILE, thirdPartyLicenses } from "../../scripts/third-party.mjs";

test("THIRD_PARTY_LICENSES.md matches the build; npm run fix writes it", () => {
  const page = readFileSync(LICENSES_FILE, "utf8");
  expect(page).toMatch(/^\| zod +\| \d/m);
  expect(page).toBe(thirdPartyLicenses());
});

test("every package on the page has the text of its license", () => {
  const sections = thirdPartyLicenses().split(/^## /m).slice(1);
  expect(sections.length).toBeGreaterThan(10);
  for (const section of sections)
    expect([section.split("\n")[0], /copyright|licensing transition/i.test(section)]).toEqual([
      expect.any(String),
      true,
    ]);
});
