// Names of environment variables in options: exact, or with the wildcards `*` and `?`.

/** Returns a function that tells whether a name matches one of the patterns. Case-sensitive, as in the kernel. */
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
