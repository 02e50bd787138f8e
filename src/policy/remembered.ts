// A small cache for results that depend only on a program's name: a long script uses the same names repeatedly.

import { POLICY_PROGRAMS_MAX_COUNT } from "../support/limits.ts";

export function remembered<T>(answer: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const fresh = answer(name);
    // Names come from untrusted text: clear the cache before it grows too large.
    if (known.size >= POLICY_PROGRAMS_MAX_COUNT) known.clear();
    known.set(name, fresh);
    return fresh;
  };
}
