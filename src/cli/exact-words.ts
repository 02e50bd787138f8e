// The words that this process was started with, byte for byte.
import { readFileSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { textOfBytes } from "../support/path-text.ts";

/** Node puts U+FFFD where a byte is no UTF-8. A path with that in it may be another one, which exists, too. */
export function exactWords(words: readonly string[]): string[] {
  if (!words.some((word) => word.includes("\ufffd"))) return [...words];
  const line = attempt(() => readFileSync("/proc/self/cmdline", "latin1")) ?? "";
  // Before them stand node, its options and the program; behind the last one is a NUL.
  const given = line.split("\0").slice(-1 - words.length, -1);
  return words.map((word, index) => {
    const bytes = Buffer.from(given[index] ?? "", "latin1");
    return bytes.toString() === word ? textOfBytes(bytes) : word;
  });
}
