// Names of environment variables as a person writes them in options: exact, or with `*` and `?`.

/** Whether a name is one of these, or fits one of their wildcards. Case matters, as it does to the kernel. */
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
