// Truncation of the `modes` dialect: keeps 4 KiB of each end of an output over 128 KiB, with `[snip]` between them.
// Sizes are bytes of UTF-8. A cut never splits a character.
import { SNIP_KEEP_BYTES, SNIP_OVER_BYTES } from "../support/limits.ts";
import { incompleteTailBytes, orphanedHeadBytes } from "./decode.ts";

export interface SnipParts {
  /** At least the first SNIP_KEEP_BYTES of the output. */
  readonly head: string;
  /** At least the last SNIP_KEEP_BYTES of the output. */
  readonly tail: string;
  readonly totalBytes: number;
}

export interface Snipped {
  readonly text: string;
  readonly truncated: boolean;
}

export function snipText(text: string): Snipped {
  const totalBytes = Buffer.byteLength(text);
  if (totalBytes <= SNIP_OVER_BYTES) return { text, truncated: false };
  return { text: snipParts({ head: text, tail: text, totalBytes }), truncated: true };
}

/** Truncates an output of which only the ends were read. */
export function snipParts({ head, tail, totalBytes }: SnipParts): string {
  const report = `got ${humanizeBytes(totalBytes)}, max is ${humanizeBytes(SNIP_OVER_BYTES)}`;
  return `[output truncated in middle: ${report}]\n${firstBytes(head)}\n\n[snip]\n\n${lastBytes(tail)}`;
}

/** Base 1024, one decimal, `.0` dropped: `512B`, `128KB`, `1.2MB`. */
export function humanizeBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // 1023.96 would be rounded to 1024, so use the next unit.
  while (unit < UNITS.length - 1 && Number(value.toFixed(1)) >= 1024) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(1).replace(/\.0$/, "")}${UNITS[unit]}`;
}

// Every UTF-16 unit takes at least one byte, so slicing the string first keeps the copy small.
function firstBytes(text: string): string {
  const bytes = Buffer.from(text.slice(0, SNIP_KEEP_BYTES)).subarray(0, SNIP_KEEP_BYTES);
  return bytes.toString("utf8", 0, bytes.length - incompleteTailBytes(bytes));
}

function lastBytes(text: string): string {
  const bytes = Buffer.from(text.slice(-SNIP_KEEP_BYTES)).subarray(-SNIP_KEEP_BYTES);
  return bytes.toString("utf8", orphanedHeadBytes(bytes));
}

const UNITS = ["B", "KB", "MB", "GB", "TB"] as const;
