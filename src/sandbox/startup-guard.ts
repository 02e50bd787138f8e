// Protects startup files in a writable home directory: commands can neither change nor create them. The person's next login,
// shell or editor would run them outside the sandbox.
import { dirname, isAbsolute, join } from "node:path";
import { shownPath } from "../support/path-text.ts";
import { HOME_PROGRAMS, HOME_STARTUP, type StartupPath } from "../support/startup-paths.ts";
import type { GitGuard } from "./git-guard.ts";
import { type GuardedLink, linksAlong } from "./guarded-links.ts";
import type { Placeholder } from "./placeholders.ts";
import { isWithin, type kindOf, missingParts } from "./real-path.ts";

export type StartupGuard = Omit<GitGuard, "writable">;

export interface StartupGuardOptions {
  readonly homes: readonly string[];
  /** Writable directories. */
  readonly writable: readonly string[];
  /** undefined for a placeholder. */
  readonly kindAt: (path: string) => ReturnType<typeof kindOf>;
  readonly real: (path: string) => string;
}

export function guardStartup({ homes, writable, kindAt, real }: StartupGuardOptions): StartupGuard {
  const isWritable = (path: string) => writable.some((root) => isWithin(path, root));
  const readOnly: string[] = [];
  const placeholders = new Map<string, Placeholder>();
  const notEnforced: string[] = [];
  const links: GuardedLink[] = [];
  for (const { path: named, kind } of startupPaths(homes)) {
    const path = real(named);
    if (
      path !== join(real(dirname(named)), named.slice(dirname(named).length + 1)) &&
      isWritable(dirname(named))
    ) {
      const role = "which runs or is read at a start";
      notEnforced.push(`${shownPath(named)}, ${role}: it is a link, which cannot be protected`);
      links.push(...linksAlong(named, role).filter((link) => isWritable(link.path)));
    }
    // Paths that the user named as writable stay writable.
    if (!isWritable(path) || writable.some((root) => isWithin(root, path))) continue;
    const missing = missingParts(path, kindAt);
    if (!missing) continue;
    for (const at of missing) placeholders.set(at, { path: at, kind: at === path ? kind : "directory" });
    readOnly.push(path);
  }
  return { readOnly, placeholders: [...placeholders.values()], notEnforced, links };
}

/** Including the paths that variables move. */
function startupPaths(homes: readonly string[]): StartupPath[] {
  return [
    ...homes.flatMap((home) => below(home, [...HOME_STARTUP, ...HOME_PROGRAMS])),
    ...moved("ZDOTDIR", "", /^\.z/),
    ...moved("XDG_CONFIG_HOME", ".config/", /^\.config\//),
  ];
}

function moved(variable: string, prefix: string, which: RegExp): StartupPath[] {
  const directory = process.env[variable] ?? "";
  if (!isAbsolute(directory)) return [];
  const paths = HOME_STARTUP.filter(({ path }) => which.test(path));
  return below(
    directory,
    paths.map(({ path, kind }) => ({ path: path.slice(prefix.length), kind })),
  );
}

function below(directory: string, paths: readonly StartupPath[]): StartupPath[] {
  return paths.map(({ path, kind }) => ({ path: join(directory, path), kind }));
}
