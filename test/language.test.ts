// The language of comments, messages, docs and test titles. Processes are "it", never "who" or "somebody". Words that
// GLOSSARY.md lists under "not" do not occur.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "./docs/pages.ts";

const PERSONAL = /\b(?:who|whoever|whom|nobody|somebody|anybody|everybody)\b/gi;

/** "who" may follow a word for people. */
const PEOPLE = /\b(?:person|people|users?|readers?|maintainers?|anyone)\b[\w\s,/*]{0,30}$/i;

/** In these files, `who` is a program and `nobody` is a user, so only the comments are prose. */
const DATA = /^src\/policy\/(?:programs|rules)\//;

const read = (file: string) => readFileSync(join(root, file), "utf8");
const filesIn = (folder: string, extensions: readonly string[]) =>
  ts.sys.readDirectory(join(root, folder), extensions).map((path) => relative(root, path));

/** The findings in parts of a file, as `file:line: word`. */
function findIn({ file, text, parts }: Prose, words: RegExp): string[] {
  return parts.flatMap(({ pos, end }) =>
    [...text.slice(pos, end).matchAll(words)]
      .map(({ 0: word, index }) => ({ word, at: pos + index }))
      .filter(({ at }) => !PEOPLE.test(text.slice(Math.max(0, at - 60), at)))
      .map(({ word, at }) => `${file}:${text.slice(0, at).split("\n").length}: ${word.toLowerCase()}`),
  );
}

interface Part {
  readonly pos: number;
  readonly end: number;
}

function nodesOf(source: ts.SourceFile): ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return nodes;
}

/** The comments and messages of a source file. */
function proseOf(file: string, text: string): Part[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const nodes = nodesOf(source);
  const comments = nodes.flatMap((node) => [
    ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
    ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
  ]);
  const isMessage = (node: ts.Node) => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
  const messages = DATA.test(file) ? [] : nodes.filter((node) => isMessage(node) && / /.test(node.getText()));
  return [...new Map([...comments, ...messages].map(({ pos, end }) => [pos, { pos, end }])).values()];
}

function titlesOf(file: string, text: string): Part[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  return nodesOf(source).flatMap((node) => {
    if (!ts.isCallExpression(node) || !/^(?:test|it|describe)/.test(node.expression.getText())) return [];
    const [title] = node.arguments;
    return title && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title)) ? [title] : [];
  });
}

const matchesOf = (text: string, pattern: RegExp): Part[] =>
  [...text.matchAll(pattern)].map(({ index, 0: match }) => ({ pos: index, end: index + match.length }));

/** Removes the code from a page. */
const withoutCode = (page: string) =>
  page.replace(/```[\s\S]*?```|`[^`]*`/g, (code) => code.replace(/\S/g, " "));

interface Prose {
  readonly file: string;
  readonly text: string;
  readonly parts: readonly Part[];
}

const PAGES = [...filesIn("docs", [".md"]), "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md"];

function* allProse(): Generator<Prose> {
  const sourceOf = (file: string, partsOf: typeof proseOf) => {
    const text = read(file);
    return { file, text, parts: partsOf(file, text) };
  };
  for (const file of filesIn("src", [".ts"])) yield sourceOf(file, proseOf);
  for (const file of filesIn("src", [".sh"]))
    yield sourceOf(file, (_, text) => matchesOf(text, /(?<=^|\s)#.*/gm));
  for (const file of filesIn("test", [".test.ts"])) {
    if (file !== "test/language.test.ts") yield sourceOf(file, titlesOf);
  }
  for (const file of PAGES) yield pageOf(file, read(file));
}

function pageOf(file: string, page: string): Prose {
  const text = withoutCode(page);
  return { file, text, parts: [{ pos: 0, end: text.length }] };
}

const PROSE = [...allProse()];

test("no comment, message, page or test title calls a process who, nobody or somebody", () => {
  expect(PROSE.flatMap((prose) => findIn(prose, PERSONAL))).toEqual([]);
});

test("no comment, message, page or test title uses a word that GLOSSARY.md replaces", () => {
  const rows = [...read("GLOSSARY.md").matchAll(/^\|[^|]*\|[^|]*\|([^|]*)\|$/gm)].slice(2);
  const words = rows.flatMap(([, cell = ""]) => cell.split(",").map((word) => word.trim())).filter(Boolean);
  expect(words.length).toBeGreaterThan(5);
  const replaced = new RegExp(`\\b(?:${words.join("|")})s?\\b`, "gi");
  expect(PROSE.flatMap((prose) => findIn(prose, replaced))).toEqual([]);
});

test("planted words are found", () => {
  const text = '// Whoever reads it\n/** The person who asks. */\nconst a = f("is told to nobody", "who");\n';
  expect(findIn({ file: "a.ts", text, parts: proseOf("a.ts", text) }, PERSONAL)).toEqual([
    "a.ts:1: whoever",
    "a.ts:3: nobody",
  ]);
  const titles = 'test.each([1])("what somebody left: %i", () => {});\nconst b = "nobody is here";\n';
  expect(findIn({ file: "b.ts", text: titles, parts: titlesOf("b.ts", titles) }, PERSONAL)).toEqual([
    "b.ts:1: somebody",
  ]);
  const page = "Run `who`:\n\n```sh\nwho\n```\n\nAnybody can.\n";
  expect(findIn(pageOf("c.md", page), PERSONAL)).toEqual(["c.md:7: anybody"]);
});
