// A command as one line of a message.
import { printable } from "../support/printable.ts";

/** The first line, with a mark if more follows or the line is longer than `maxChars`. */
export function firstLine(command: string, maxChars = Number.POSITIVE_INFINITY): string {
  const trimmed = command.trim();
  const [line = ""] = trimmed.split("\n", 1);
  const kept = line.length > maxChars ? line.slice(0, maxChars - 1) : line;
  return printable(kept === trimmed ? kept : `${kept}…`);
}
