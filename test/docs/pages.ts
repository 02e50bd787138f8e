// The fenced blocks of README.md and docs/**, and the code between backticks in their sentences and tables.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

const PAGES = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    // docs/api is generated from the comments.
    .filter((name) => name.endsWith(".md") && !name.startsWith("api/"))
    .map((name) => join("docs", name)),
];

export interface Block {
  readonly file: string;
  /** Empty if the block names none. */
  readonly language: string;
  readonly lines: readonly string[];
}

/** Code between backticks. */
export interface Inline {
  readonly file: string;
  readonly text: string;
}

const FENCE = /^```(\w*)\n([\s\S]*?)^```$/gm;

export const blocks: readonly Block[] = PAGES.flatMap((file) =>
  [...textOf(file).matchAll(FENCE)].map(([, language = "", body = ""]) => ({
    file,
    language,
    lines: body.trimEnd().split("\n"),
  })),
);

export const inlines: readonly Inline[] = PAGES.flatMap(inlinesOf);

export function inlinesOf(file: string): Inline[] {
  const prose = textOf(file).replace(FENCE, "");
  // A table cell escapes |, even between backticks.
  return [...prose.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => ({
    file,
    text: text.replaceAll("\\|", "|").replace(/\s+/g, " "),
  }));
}

function textOf(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
