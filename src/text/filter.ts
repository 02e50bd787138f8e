// Selects lines of output. pattern.ts compiles patterns, and is loaded only if a call has a pattern.

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
  for (let start = 0, end = 0; start < text.length; start = end) {
    // No repeated class: decision 19.
    end = text.indexOf("\n", start) + 1 || text.length;
    const line = text.slice(start, end);
    if (pattern.matches(line.replace(/\r?\n$/, ""))) kept.push(line);
    else skipped++;
  }
  return { text: kept.join(""), kept: kept.length, skipped };
}
