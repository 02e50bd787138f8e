// The possible targets of `cd` and `pushd`, with HOME, OLDPWD, CDPATH and cdable_vars, and whether a target certainly
// exists.

import { changeDirectory, locate, type Where } from "../paths/paths.ts";
import type { EffectiveCommand } from "./command.ts";
import { isUnresolved, SOMETHING, UNKNOWN } from "./marks.ts";
import type { Scope } from "./script-scope.ts";

/** The directories that a word may name, resolved against each directory that the shell may be in. */
export function directoriesNamed(
  text: string | null,
  command: EffectiveCommand,
  scope: Scope,
  where: Where,
): (cwd: string) => readonly string[] {
  if (text === null) {
    const homes = scope.variable("HOME")?.values ?? [where.home];
    return command.called === "cd" ? fixed(homes) : () => [UNKNOWN];
  }
  if (text === "-") return fixed(scope.variable("OLDPWD")?.values ?? [UNKNOWN]);
  const searched = isSearched(text) ? searchPath(command, scope) : [];
  const named = isSearched(text) && scope.hasOption("cdable_vars") ? variableNamed(text, scope) : [];
  return (cwd) => {
    const found = searched.map((directory) => changeDirectory(`${directory}/${text}`, cwd));
    const own = changeDirectory(text, cwd);
    return [own, ...found.filter((path) => path !== own), ...named];
  };
}

const fixed = (paths: readonly string[]) => (cwd: string) => paths.map((path) => changeDirectory(path, cwd));

/** bash does not search CDPATH for a name that starts with a slash or a dot. */
const isSearched = (text: string): boolean => !/^\.{0,2}(\/|$)/.test(text);

function searchPath({ assignments }: EffectiveCommand, scope: Scope): readonly string[] {
  const given = assignments.filter(({ name }) => name === "CDPATH").map(({ value }) => value);
  const values = given.length > 0 ? given : (scope.variable("CDPATH")?.values ?? []);
  return values.flatMap((value) => (value === "" ? [] : value.split(":").map((entry) => entry || ".")));
}

function variableNamed(text: string, scope: Scope): readonly string[] {
  return scope.variable(text)?.values ?? (/^\w+$/.test(text) ? [UNKNOWN] : []);
}

/** Whether the directory certainly exists: the shell is in it or below it, or the command created it. */
export function certainlyExists(path: string, cwd: string, scope: Scope, where: Where): boolean {
  if (isUnresolved(path))
    return /^\/(var\/)?tmp\//.test(path) && path.includes(SOMETHING) && !path.includes(UNKNOWN);
  if (path === "/" || path === where.home || scope.made.directories.has(path)) return true;
  if (`${cwd}/`.startsWith(`${path}/`) || `${where.workspace}/`.startsWith(`${path}/`)) return true;
  return locate(path, "/", where).class === "temp-root";
}
