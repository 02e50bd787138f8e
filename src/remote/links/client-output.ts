// Formats the end of a client program's output for an error message: whole lines, joined into one, safe for a terminal.

/** docker ends every error message with this hint. */
const HELP_HINT = /^(?:See|Run) '.* --help'/;

export interface OutputExcerpt {
  readonly maxLines: number;
  readonly maxChars: number;
}

/**
 * Returns the last lines that fit. If the last line alone is too long, cuts it at a word. Returns "" if nothing was
 * printed.
 */
export function lastPrintedLines(text: string, { maxLines, maxChars }: OutputExcerpt): string {
  const lines = text
    .split("\n")
    .map(printableLine)
    .filter((line) => line !== "" && !HELP_HINT.test(line));
  const [last = "", ...before] = lines.toReversed();
  let shown = cutAtWord(last, maxChars);
  for (const line of before.slice(0, maxLines - 1)) {
    const longer = `${line} | ${shown}`;
    if (longer.length > maxChars) break;
    shown = longer;
  }
  return shown;
}

/** Keeps the beginning of the line, because it names the failure. */
function cutAtWord(line: string, maxChars: number): string {
  if (line.length <= maxChars) return line;
  const cut = line.slice(0, maxChars + 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), 0)) || cut.slice(0, maxChars)} …`;
}

/**
 * Removes control characters and the marks that reverse the direction of text: text from the remote end must not
 * control the reader's terminal.
 */
export function printableLine(line: string): string {
  return line
    .replace(/\u001b\[[0-9;]*[A-Za-z]/g, "")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, " ")
    .trim();
}
