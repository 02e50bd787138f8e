// Reads what the search program printed: one group of lines per file. ripgrep and grep end the path with NUL; git grep
// ends the path and the line number with NUL.
import { textOfBytes } from "../support/path-text.ts";

export interface GrepLine {
  /** undefined for a separator between two groups of context. */
  readonly number: number | undefined;
  readonly isMatch: boolean;
  readonly text: string;
}

/** The lines of each file, in the order of the output. */
export function readGrepLines(output: Buffer): Map<string, GrepLine[]> {
  const files = new Map<string, GrepLine[]>();
  let lines: GrepLine[] = [];
  for (let at = 0; at < output.length; ) {
    const end = endOfLine(output, at);
    const nul = output.indexOf(0, at);
    if (nul !== -1 && nul < end) {
      const path = textOfBytes(output.subarray(at, nul));
      lines = files.get(path) ?? [];
      files.set(path, lines);
      lines.push(lineOf(output.subarray(nul + 1, end).toString()));
    } else if (output.subarray(at, end).toString() === "--") {
      lines.push({ number: undefined, isMatch: false, text: "--" });
    }
    at = end + 1;
  }
  for (const own of files.values()) while (own.at(-1)?.number === undefined && own.length > 0) own.pop();
  return files;
}

/** The paths of a list that is separated by NUL. */
export function readPaths(output: Buffer): string[] {
  return splitAt(output, 0).map(textOfBytes);
}

/** The number of matching lines of each file. */
export function readCounts(output: Buffer): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of splitAt(output, NEWLINE)) {
    const nul = line.indexOf(0);
    const count = Number(line.subarray(nul + 1).toString());
    if (nul > 0 && count > 0) counts.set(textOfBytes(line.subarray(0, nul)), count);
  }
  return counts;
}

function lineOf(rest: string): GrepLine {
  const [whole = "", number = "", sign = ""] = /^(\d+)([:\0=-])/.exec(rest) ?? [];
  // git grep writes NUL before the text of matches and of context alike.
  return { number: Number(number), isMatch: sign !== "-", text: rest.slice(whole.length).replace(/\r$/, "") };
}

function endOfLine(output: Buffer, from: number): number {
  const end = output.indexOf(NEWLINE, from);
  return end === -1 ? output.length : end;
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
