// Text from elsewhere on a terminal: what would move the cursor or hide something is shown as what it is.

/** Newlines and tabs stay. */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? "?"}}`);
}

/** The first line, and no more of it than fits a table. */
export function oneLine(text: string, maxChars: number): string {
  const [line = ""] = text.trim().split("\n", 1);
  const more = line.length < text.trim().length;
  const shown = printable(line).replaceAll("\t", " ");
  const chars = [...shown];
  return chars.length > maxChars || more ? `${chars.slice(0, maxChars - 1).join("")}…` : shown;
}
