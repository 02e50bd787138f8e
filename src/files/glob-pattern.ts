// Glob patterns: `*` and `?` within one name, `**` across directories, `[a-z]`, `{a,b}`. A pattern without a slash
// matches the name of a file at any depth. Patterns are compiled for RE2, which matches in linear time.
import { NacreError } from "../support/errors.ts";
import { quotedExcerpt } from "../support/excerpt.ts";
import { GLOB_MAX_CHARS } from "../support/limits.ts";
import { compilePattern } from "../text/pattern.ts";

export interface GlobPattern {
  /** The directory that the pattern starts with, "" if it starts with a wildcard. */
  readonly base: string;
  /**
   * A pattern for file names that the search program can apply. It matches the names of all files that the glob
   * matches, and may match more names. undefined if there is no such pattern.
   */
  readonly name: string | undefined;
  /** `path` is relative to the directory of the search. */
  matches(path: string): boolean;
}

export function globPattern(source: string, parameter: string): GlobPattern {
  const given = source.replace(/^(?:\.\/+)+/, "").replace(/\/(?:\.?\/)+/g, "/");
  if (given === "" || given.length > GLOB_MAX_CHARS || given.includes("\0"))
    throw invalid(parameter, source, `it must have 1 to ${GLOB_MAX_CHARS} characters, and no NUL`);
  if (given.startsWith("!")) throw invalid(parameter, source, "it cannot exclude files: leave out the !");
  if (PARENT.test(given))
    throw invalid(parameter, source, "it leaves the directory of the search: give the directory as path");
  const parts = given.split("/");
  const isName = parts.length === 1;
  const last = parts.at(-1) ?? "";
  const fixed = parts.findIndex((part) => /[*?[\]{}\\]/.test(part));
  const base = parts.slice(0, fixed < 0 ? parts.length - 1 : fixed).join("/");
  const pattern = compilePattern(
    `^(?s:${isName ? "(?:.*/)?" : ""}${translate(given, parameter)})$`,
    parameter,
  );
  return {
    base,
    name: SIMPLE_NAME.test(last) && last !== "**" ? last : undefined,
    matches: (path) => pattern.matches(path),
  };
}

/** Patterns for file names that all search programs interpret in the same way. */
const SIMPLE_NAME = /^[\w.*?-]+(?:\{[\w.,*?-]+\})?$/;

/** `..` as a whole name or as an alternative in braces. No path in a result contains `..`, so it could never match. */
const PARENT = /(?:^|[/{,])\.\.(?:$|[/},])/;

function translate(glob: string, parameter: string): string {
  const parts: string[] = [];
  let depth = 0;
  for (let at = 0; at < glob.length; ) {
    const { text, length } = nextPart(glob, at, depth);
    if (text === "(?:") depth++;
    if (text === ")") depth--;
    parts.push(text);
    at += length;
  }
  if (depth !== 0) throw invalid(parameter, glob, "a { has no }");
  return parts.join("");
}

function nextPart(
  glob: string,
  at: number,
  depth: number,
): { readonly text: string; readonly length: number } {
  const rest = glob.slice(at);
  const isStart = at === 0 || glob[at - 1] === "/";
  if (isStart && rest.startsWith("**/")) return { text: "(?:.*/)?", length: 3 };
  if (isStart && rest === "**") return { text: ".*", length: 2 };
  const stars = /^\*+/.exec(rest)?.[0].length ?? 0;
  if (stars > 0) return { text: "[^/]*", length: stars };
  const char = rest.charAt(0);
  if (char === "?") return { text: "[^/]", length: 1 };
  if (char === "{") return { text: "(?:", length: 1 };
  if (char === "}" && depth > 0) return { text: ")", length: 1 };
  if (char === "," && depth > 0) return { text: "|", length: 1 };
  if (char === "[") return nameSet(rest);
  if (char === "\\" && rest.length > 1) return { text: escaped(rest.charAt(1)), length: 2 };
  return { text: escaped(char), length: 1 };
}

/** Translates `[a-z]` or `[!a-z]`. A `[` without a `]` is literal. */
function nameSet(rest: string): { readonly text: string; readonly length: number } {
  const [whole, not = "", set = ""] = /^\[([!^]?)(\]?[^\]/]*)\]/.exec(rest) ?? [];
  if (whole === undefined) return { text: "\\[", length: 1 };
  return { text: `[${not === "" ? "" : "^/"}${set.replace(/[\\[\]^&~]/g, "\\$&")}]`, length: whole.length };
}

function escaped(char: string): string {
  return /[\w/ -]/.test(char) || char > "\x7f" ? char : `\\${char}`;
}

function invalid(parameter: string, source: string, why: string): NacreError {
  return new NacreError("invalid_input", `Invalid ${parameter} ${quotedExcerpt(source)}: ${why}.`);
}
