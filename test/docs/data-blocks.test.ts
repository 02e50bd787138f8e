// The json, yaml and toml blocks of README.md and docs/** are valid. No direct dependency parses YAML or TOML, so this
// file checks them line by line. It knows only the syntax that the pages use.
import { expect, test } from "vitest";
import { blocks } from "./pages.ts";

type Check = (lines: readonly string[]) => void;

const CHECKS: Readonly<Record<string, Check>> = {
  json: (lines) => void JSON.parse(lines.join("\n")),
  toml: checkToml,
  yaml: checkIndentation,
  yml: checkIndentation,
};

const shown = blocks.filter(({ language }) => language in CHECKS);

test("the pages have a block of each format", () => {
  const languages = new Set(shown.map(({ language }) => language));
  expect([...languages].sort()).toEqual(["json", "toml", "yaml"]);
});

test.each(shown.map(({ file, language, lines }) => [language, file, lines[0] ?? "", lines] as const))(
  "the %s block in %s is valid: %s",
  (language, _file, _first, lines) => {
    expect(() => CHECKS[language]?.(lines)).not.toThrow();
  },
);

test("a list item that is indented further than the next item is reported", () => {
  expect(() => checkIndentation(["steps:", "      - uses: a", "  - run: b"])).toThrow("line 3");
  expect(() => checkIndentation(["steps:", "  - uses: a", "    - run: b"])).toThrow("line 3");
  expect(() =>
    checkIndentation(["steps:", "  - uses: a", "    with: b", "  - run: c", "on: d"]),
  ).not.toThrow();
});

test("a TOML line without a value is reported", () => {
  expect(() => checkToml(["[a.b]", 'c = "d"'])).not.toThrow();
  expect(() => checkToml(["[a.b]", "c ="])).toThrow("line 2");
});

interface OpenBlock {
  readonly at: number;
  readonly isList: boolean;
}

/** Each line continues an open list or mapping, or opens one below a line that ends with a colon. */
function checkIndentation(lines: readonly string[]): void {
  let open: readonly OpenBlock[] = [{ at: 0, isList: false }];
  let mayOpen = false;
  for (const [index, line] of lines.entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const at = line.search(/\S/);
    const isList = /^\s*- /.test(line);
    if (mayOpen && at > (open.at(-1)?.at ?? 0)) open = [...open, { at, isList }];
    open = open.filter((block) => block.at <= at);
    const last = open.at(-1);
    if (last?.at !== at || last.isList !== isList)
      throw new Error(`line ${index + 1} belongs to no open list or mapping: ${line}`);
    // The first key of a list item opens a mapping after the dash.
    const key = /^\s*- +(?=[\w-]+:)/.exec(line)?.[0];
    if (key !== undefined) open = [...open, { at: key.length, isList: false }];
    mayOpen = /:\s*(?:#.*)?$/.test(line);
  }
}

/** Each line is a table header, or a key with a value that is also valid JSON: a string, number, boolean or array. */
function checkToml(lines: readonly string[]): void {
  for (const [index, line] of lines.entries()) {
    if (/^\s*(?:#|$)/.test(line) || /^\[[\w.]+\]$/.test(line)) continue;
    const [, value] = /^\w+ = (.+)$/.exec(line) ?? [];
    if (value === undefined)
      throw new Error(`line ${index + 1} is neither a table nor a key with a value: ${line}`);
    JSON.parse(value);
  }
}
