// Paths in code in other languages. A path in a call that only reads is harmless; any other use is unknown.

import { POLICY_CODE_PATHS_MAX_COUNT } from "../../../support/limits.ts";

const LITERAL = /"(\/[^"\\\n]{1,300})"|'(\/[^'\\\n]{1,300})'|`(\/[^`\\\n]{1,300})`/g;

/** Matches the code before a path that is only read, compared or printed. */
const READ_BEFORE =
  /(?:\b(?:open|fopen|read\w*|load\w*|exists?\w*|exist\?|is_?file|is_?dir\w*|file\?|directory\?|l?stat\w*|listdir|scandir|readdir\w*|walk|i?glob|Path|PurePath|PosixPath|resolve|join|require\w*|import|from|source|include\w*|print\w*|puts|echo|say|log|warn|info|startswith|startsWith|endswith|endsWith|indexOf|includes|replace\w*|split|match\w*|search|test|getsize|access\w*|File\.(?:read\w*|exist\w*|open|file\?|size)|file_get_contents|which|append|insert|extend|route|get|post|put|patch|all|use|url|path|static|href|location|fetch|navigate|goto|basename|dirname|realpath|relpath|Dir\.(?:glob|entries|children|exist\?)|parse|format|assert\w*|expect|toBe|toEqual)\s*\(?\s*\[?\s*|[=!]=\s*)$/;
/** Matches the code before a path that is an item of a list or a value in a table. */
const ITEM_BEFORE = /(?:[:,[{+%=]|\bin|\breturn)\s*$/;

/**
 * Absolute paths whose use is not known to be harmless.
 * @param destroys Whether the code deletes or writes something.
 */
export function pathsOfUnknownUse(source: string, destroys: boolean): readonly string[] {
  const found: string[] = [];
  for (const match of source.matchAll(LITERAL)) {
    const path = match[1] ?? match[2] ?? match[3] ?? "";
    const before = source.slice(Math.max(0, match.index - 40), match.index);
    if (/\s/.test(path) || READ_BEFORE.test(before) || (!destroys && ITEM_BEFORE.test(before))) continue;
    found.push(path);
    if (found.length >= POLICY_CODE_PATHS_MAX_COUNT) break;
  }
  return found;
}

/** Absolute paths anywhere in the text, quoted or not. */
export function pathsNamed(source: string): readonly string[] {
  return [...source.matchAll(/(?<![\w.:/\\])(\/[\w.+@-]+(?:\/[\w.*+@-]*)*)/g)]
    .map(([, path = ""]) => path)
    .slice(0, POLICY_CODE_PATHS_MAX_COUNT);
}
