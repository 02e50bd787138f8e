// The arguments of this process, byte for byte.
import { readFileSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { textOfBytes } from "../support/path-text.ts";

/**
 * Restores bytes that are not UTF-8. Node replaces each with U+FFFD, and the result can be the path of another file.
 */
export function exactArguments(args: readonly string[]): string[] {
  if (!args.some((arg) => arg.includes("\ufffd"))) return [...args];
  const line = attempt(() => readFileSync("/proc/self/cmdline", "latin1")) ?? "";
  // node, its options and the program come first; a NUL follows the last argument.
  const exact = line.split("\0").slice(-1 - args.length, -1);
  return args.map((arg, index) => {
    const bytes = Buffer.from(exact[index] ?? "", "latin1");
    return bytes.toString() === arg ? textOfBytes(bytes) : arg;
  });
}
