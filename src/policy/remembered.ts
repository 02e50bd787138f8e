// A small memory for what depends on a program's name alone: a long script asks the same question again and again.

import { POLICY_PROGRAMS_MAX_COUNT } from "../support/limits.ts";

export function remembered<T>(answer: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const fresh = answer(name);
    // Names come from untrusted text: the memory starts over before it could grow.
    if (known.size >= POLICY_PROGRAMS_MAX_COUNT) known.clear();
    known.set(name, fresh);
    return fresh;
  };
}
