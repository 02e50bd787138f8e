// A regular expression from the command line. Loads the large RE2 module only if a pattern is given.
import { InvalidArgumentError } from "commander";
import { messageOf } from "../support/errors.ts";
import type { LinePattern } from "../text/filter.ts";

/** A pattern that cannot be compiled is a usage error. */
export async function patternOf(source: string | undefined, name: string): Promise<LinePattern | undefined> {
  if (source === undefined) return undefined;
  const { compilePattern } = await import("../text/pattern.ts");
  try {
    return compilePattern(source, name);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}
