// Selects lines of output. pattern.ts compiles patterns; it is loaded only if a call has one.

export interface LinePattern {
  readonly source: string;
  /** Whether the pattern occurs in the line. The line has no line end. */
  matches(line: string): boolean;
}

export interface FilteredText {
  readonly text: string;
  readonly kept: number;
  readonly skipped: number;
}

/** The matching lines, with their line ends. Both `\n` and `\r\n` end a line. */
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
