// Parses the output of the search program. The path of a record ends with NUL and may contain newlines. So this module
// reads records one after another instead of splitting the output into lines:
//
//   ripgrep, grep   path NUL number ":" text LF       context has "-" in place of ":"
//   git grep        path NUL number NUL column NUL text LF       context has no column
//   count           path NUL number LF
import { textOfBytes } from "../support/path-text.ts";

export interface GrepLine {
  /** undefined for a separator between two groups of context. */
  readonly number: number | undefined;
  readonly isMatch: boolean;
  readonly text: string;
}

interface GrepRecord {
  readonly path: string;
  readonly hasSeparator: boolean;
  /** The bytes between the path and the end of the line. */
  readonly rest: Buffer;
}

/** The lines of each file, in the order of the output. `hasContext`: the call asks for context lines. */
export function readGrepLines(output: Buffer, hasContext: boolean): Map<string, GrepLine[]> {
  const files = new Map<string, GrepLine[]>();
  for (const { path, hasSeparator, rest } of recordsOf(output, hasContext)) {
    const lines = files.get(path) ?? [];
    files.set(path, lines);
    if (hasSeparator && lines.length > 0) lines.push({ number: undefined, isMatch: false, text: "--" });
    lines.push(lineOf(rest.toString()));
  }
  return files;
}

/** The paths of a list with NUL as separator. */
export function readPaths(output: Buffer): string[] {
  return splitAt(output, 0).map(textOfBytes);
}

/** The number of matching lines of each file. */
export function readCounts(output: Buffer): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { path, rest } of recordsOf(output, false)) {
    const count = Number(rest.toString());
    if (count > 0) counts.set(path, count);
  }
  return counts;
}

function* recordsOf(output: Buffer, hasContext: boolean): Generator<GrepRecord> {
  let last: string | undefined;
  for (let at = 0; at < output.length; ) {
    const nul = output.indexOf(0, at);
    if (nul === -1) return;
    const newline = output.indexOf(NEWLINE, nul);
    const end = newline === -1 ? output.length : newline;
    const given = textOfBytes(output.subarray(at, nul)).replace(BINARY_MESSAGES, "");
    // The program prints a separator before each group of lines except the first. A file name can also begin with the
    // separator.
    const hasSeparator = hasContext && last !== undefined && given !== last && given.startsWith(SEPARATOR);
    const path = hasSeparator ? given.slice(SEPARATOR.length) : given;
    yield { path, hasSeparator, rest: output.subarray(nul + 1, end) };
    last = path;
    at = end + 1;
  }
}

function lineOf(rest: string): GrepLine {
  const [whole = "", number = "", sign = "", column] = /^(\d+)(?:([:-])|\0(?:(\d+)\0)?)/.exec(rest) ?? [];
  const isMatch = sign === ":" || column !== undefined;
  return { number: Number(number), isMatch, text: rest.slice(whole.length).replace(/\r$/, "") };
}

function splitAt(output: Buffer, byte: number): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < output.length; ) {
    const next = output.indexOf(byte, at);
    const end = next === -1 ? output.length : next;
    if (end > at) parts.push(output.subarray(at, end));
    at = end + 1;
  }
  return parts;
}

const NEWLINE = 0x0a;
const SEPARATOR = "--\n";
/** If ripgrep finds a NUL in a file after the first match, it prints this line before the next path. */
const BINARY_MESSAGES =
  /^(?:[^\n]*: (?:WARNING: stopped searching binary file after match|binary file matches) \(found "\\0" byte around offset \d+\)\n)+/;
