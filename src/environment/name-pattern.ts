// Matches names of environment variables against the patterns in options: exact names, or names with `*` and `?`.

/** Returns a function that tells whether a name matches one of the patterns. Case-sensitive, like variable names. */
export function matcherOf(patterns: readonly string[] = []): (name: string) => boolean {
  const exact = new Set(patterns);
  const wild = patterns.filter((pattern) => /[*?]/.test(pattern)).map(toRegExp);
  return (name) => exact.has(name) || wild.some((pattern) => pattern.test(name));
}

function toRegExp(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s");
}
