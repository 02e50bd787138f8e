// The package that an argument of a package manager or runtime names: `nacre@latest`, `npm:nacre/cli`, `../nacre`,
// `node_modules/@openai/codex/bin/codex.js`.

/** The name of the package, or null. */
export function packageOf(text: string): string | null {
  const installed = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/@.][^/@]*)(?:\/|$)/.exec(text)?.[1];
  if (installed !== undefined) return installed;
  const [, specified, name] = /^(npm:|jsr:)?((?:@[\w.-]+\/)?[\w.-]+)(?:@[^/]*)?(?:\/.*)?$/.exec(text) ?? [];
  if (specified !== undefined && name !== undefined) return name;
  if (/^(@[\w.-]+\/)?[\w.-]+(@[^/]*)?$/.test(text)) return name ?? null;
  // For a directory, an archive or a repository, use the last part of the path.
  return /(?:^|[/:])([\w.-]+?)(?:\.git|\.tgz)?(?:#[^/]*)?\/?$/.exec(text)?.[1] ?? null;
}
