// Protects startup files in a writable home directory: commands can neither change nor create them. Otherwise the
// user's next login, shell or editor would run a command's code outside the sandbox.
import { basename, dirname, isAbsolute, join } from "node:path";
import type { ListedPath } from "../support/listed-paths.ts";
import { isWithin, shownPath } from "../support/path-text.ts";
import { HOME_PROGRAMS, HOME_STARTUP } from "../support/startup-paths.ts";
import type { Protections } from "./protections.ts";

const ROLE = "which runs or is read when a program starts";

export function guardStartup(protections: Protections, homes: readonly string[]): void {
  for (const { path: named, kind } of startupPaths(homes)) {
    const directory = dirname(named);
    const path = protections.real(named);
    const isLink = path !== join(protections.real(directory), basename(named));
    if (isLink && protections.isWritable(directory)) {
      protections.reportLink(`${shownPath(named)}, ${ROLE}`);
      protections.watchLinks(named, ROLE);
    }
    // A path stays writable if the user has named it as writable.
    const isNamed = protections.roots.some((root) => isWithin(root, path));
    if (protections.isWritable(path) && !isNamed) protections.protect(path, { kind });
  }
}

/** The startup files in these home directories, and in the directories that environment variables name instead. */
function startupPaths(homes: readonly string[]): ListedPath[] {
  return [
    ...homes.flatMap((home) => below(home, [...HOME_STARTUP, ...HOME_PROGRAMS])),
    ...moved("ZDOTDIR", "", /^\.z/),
    ...moved("XDG_CONFIG_HOME", ".config/", /^\.config\//),
  ];
}

function moved(variable: string, prefix: string, which: RegExp): ListedPath[] {
  const directory = process.env[variable] ?? "";
  if (!isAbsolute(directory)) return [];
  const paths = HOME_STARTUP.filter(({ path }) => which.test(path));
  return below(
    directory,
    paths.map(({ path, kind }) => ({ path: path.slice(prefix.length), kind })),
  );
}

function below(directory: string, paths: readonly ListedPath[]): ListedPath[] {
  return paths.map(({ path, kind }) => ({ path: join(directory, path), kind }));
}
