// Makes untrusted text safe for a terminal: escapes control and invisible characters, and cuts lines to a width.

/** Escapes every control and invisible character except newline and tab. */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16) ?? "?"}}`);
}

/** The first line, cut to `maxColumns`. */
export function oneLine(text: string, maxColumns: number): string {
  const trimmed = text.trim();
  const [line = ""] = trimmed.split("\n", 1);
  const shown = printable(line).replaceAll("\t", " ");
  const more = line.length < trimmed.length;
  return more
    ? `${cutEnd(shown, maxColumns - 1)}${widthOf(shown) > maxColumns - 1 ? "" : "…"}`
    : cutEnd(shown, maxColumns);
}

/** Cuts the end of a line and marks the cut. */
export function cutEnd(line: string, maxColumns: number): string {
  if (widthOf(line) <= maxColumns) return line;
  let kept = "";
  let columns = 0;
  for (const char of line) {
    columns += widthOf(char);
    if (columns > maxColumns - 1) break;
    kept += char;
  }
  return `${kept}…`;
}

/** Cuts the start of a path: paths differ at their end. */
export function cutStart(path: string, maxColumns: number): string {
  if (widthOf(path) <= maxColumns) return path;
  const reversed = [...path].reverse().join("");
  return [...cutEnd(reversed, maxColumns)].reverse().join("");
}

/** The width of the text in terminal columns. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let columns = 0;
  for (const char of text) columns += ZERO_WIDE.test(char) ? 0 : TWO_WIDE.test(char) ? 2 : 1;
  return columns;
}

const ZERO_WIDE = /^[\p{Mn}\p{Me}\u200b-\u200f]$/u;
const TWO_WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u;
