// Measures and cuts text by its width in terminal columns.
import stringWidth from "string-width";
import { printable } from "../support/printable.ts";

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
  for (const { segment } of GRAPHEMES.segment(line)) {
    columns += widthOf(segment);
    if (columns > maxColumns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Cuts the start of a path, because paths differ at their end. */
export function cutStart(path: string, maxColumns: number): string {
  if (widthOf(path) <= maxColumns) return path;
  const reversed = graphemesOf(path).reverse().join("");
  return graphemesOf(cutEnd(reversed, maxColumns)).reverse().join("");
}

function graphemesOf(text: string): string[] {
  return Array.from(GRAPHEMES.segment(text), ({ segment }) => segment);
}

const GRAPHEMES = new Intl.Segmenter();

/** The width of the text in terminal columns. */
export function widthOf(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : stringWidth(text);
}
