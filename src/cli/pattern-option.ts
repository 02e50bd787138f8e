// A regular expression from the command line. What reads it is large, and loaded only where there is one.
import type { LinePattern } from "../text/filter.ts";

export async function patternOf(source: string | undefined, name: string): Promise<LinePattern | undefined> {
  if (source === undefined) return undefined;
  const { compilePattern } = await import("../text/pattern.ts");
  return compilePattern(source, name);
}
