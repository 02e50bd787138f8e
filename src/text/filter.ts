// Which lines of output a reader wants to see. What a pattern is, and how it matches, is pattern.ts's: that
// file is loaded only when there is one.

export interface LinePattern {
  readonly source: string;
  /** Whether the pattern occurs in this line, given without its line end. */
  matches(line: string): boolean;
}

export interface FilteredText {
  readonly text: string;
  readonly kept: number;
  readonly skipped: number;
}

/** Exactly the lines that match, each with the line end it had. `\r\n` ends a line as `\n` does. */
export function filterLines(text: string, pattern: LinePattern): FilteredText {
  const kept: string[] = [];
  let skipped = 0;
  for (const line of linesOf(text)) {
    if (pattern.matches(withoutEnd(line))) kept.push(line);
    else skipped++;
  }
  return { text: kept.join(""), kept: kept.length, skipped };
}

function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const next = end === -1 ? text.length : end + 1;
    yield text.slice(start, next);
    start = next;
  }
}

function withoutEnd(line: string): string {
  if (line.endsWith("\r\n")) return line.slice(0, -2);
  return line.endsWith("\n") ? line.slice(0, -1) : line;
}
