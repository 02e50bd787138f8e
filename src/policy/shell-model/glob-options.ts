// Shell options that make a pattern match more files.

import { BRACKET, hasGlob, QUESTION, STAR } from "./marks.ts";
import type { Scope } from "./script-scope.ts";

/** Adds patterns for the files that a pattern also matches if `dotglob`, GLOBIGNORE or `nocaseglob` is set. */
export function withGlobOptions(fields: readonly string[], scope: Scope): readonly string[] {
  if (!fields.some(hasGlob)) return fields;
  const ignored = scope.variable("GLOBIGNORE")?.values.some((value) => value !== "") ?? false;
  const matchesDots = ignored || scope.hasOption("dotglob");
  const matchesCase = scope.hasOption("nocaseglob");
  if (!matchesDots && !matchesCase) return fields;
  return fields.flatMap((field) => {
    if (!hasGlob(field)) return [field];
    const cases = matchesCase && field !== field.toLowerCase() ? [field, field.toLowerCase()] : [field];
    return matchesDots ? [...cases, ...cases.map(withDots)] : cases;
  });
}

/**
 * The pattern for names with a leading dot: `*.json` becomes `.*.json`. A part without plain characters stays
 * unchanged.
 */
function withDots(pattern: string): string {
  return pattern.replace(
    LEADING_GLOB,
    (_all, before: string, glob: string) => `${before}.${glob === STAR ? STAR : ""}`,
  );
}

const GLOB = `[${STAR}${QUESTION}${BRACKET}]`;
const LEADING_GLOB = new RegExp(`(^|/)(${GLOB})(?=${GLOB}*[^/${GLOB.slice(1)})`, "g");
