// A regular expression from the command line. Loads the large RE2 module only if a pattern is given.
import type { LinePattern } from "../text/filter.ts";

export async function patternOf(source: string | undefined, name: string): Promise<LinePattern | undefined> {
  if (source === undefined) return undefined;
  const { compilePattern } = await import("../text/pattern.ts");
  return compilePattern(source, name);
}
