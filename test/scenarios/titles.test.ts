import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { REQUIREMENTS, SCENARIOS } from "./titles.ts";

const here = dirname(fileURLToPath(import.meta.url));
const seeds = join(here, "..", "..", "..", "shared", "seeds");
const listed = Object.values(SCENARIOS).flat();

/** The titles of all tests in this folder, as written in the source. */
function testTitles(): { readonly file: string; readonly title: string }[] {
  const files = readdirSync(here).filter((file) => file.endsWith(".test.ts") && file !== "titles.test.ts");
  return files.flatMap((file) => {
    const source = readFileSync(join(here, file), "utf8");
    return [...source.matchAll(/^ *test\(\s*"([^"]*)"/gm)].map(([, title = ""]) => ({ file, title }));
  });
}

function seed(beginning: string): string {
  const [file] = readdirSync(seeds).filter((name) => name.startsWith(beginning));
  return readFileSync(join(seeds, file ?? ""), "utf8");
}

describe("the scenarios", () => {
  test("are fifty, and each has exactly one test with its title", () => {
    expect(listed).toHaveLength(50);
    const titles = testTitles().map(({ title }) => title);
    for (const scenario of listed) expect(titles.filter((title) => title === scenario)).toEqual([scenario]);
  });

  test("are the only tests in this folder, apart from the requirements", () => {
    const unlisted = testTitles().filter(
      ({ title }) => !listed.includes(title) && !REQUIREMENTS.some((tag) => title.startsWith(`${tag}: `)),
    );
    expect(unlisted).toEqual([]);
  });

  test.each(REQUIREMENTS)("%s has tests", (tag) => {
    expect(testTitles().filter(({ title }) => title.startsWith(`${tag}: `))).not.toEqual([]);
  });

  test.skipIf(!existsSync(seeds))("match the specification, if it is available", () => {
    const specified = [...seed("003").matchAll(/^### Scenario: (.*)$/gm)].map(([, title]) => title);
    expect(listed).toEqual(specified);
    const tags = new Set(seed("004").match(/REQ-BASH-\d+/g));
    expect([...tags].sort()).toEqual([...REQUIREMENTS]);
  });
});
