// Compares paths part by part.

import { couldMatch } from "../shell-model/glob.ts";
import { hasGlob, isUnresolved } from "../shell-model/marks.ts";

export function equals(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && startsWith(a, b);
}

export function startsWith(parts: readonly string[], head: readonly string[]): boolean {
  return head.length <= parts.length && head.every((part, i) => part === parts[i]);
}

/** Like startsWith, but parts may be globs. A glob at the start of a name does not match a dot. */
export function couldStartWith(parts: readonly string[], head: readonly string[]): boolean {
  if (head.length > parts.length) return false;
  return head.every((name, i) => couldBe(parts[i] ?? "", name));
}

/** Like couldStartWith, for a single part. */
export function couldBe(part: string, name: string): boolean {
  if (part === name) return true;
  if (!hasGlob(part) || isUnresolved(part)) return false;
  return !(name.startsWith(".") && hasGlob(part.slice(0, 1))) && couldMatch(part, name);
}
