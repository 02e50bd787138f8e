// Determines which program a name runs. Three kinds of programs can do anything: one whose name was redefined, one in
// the workspace, and one in a directory that commands can write to. The policy asks only if an argument names a
// protected path, because build scripts, aliases and virtual environments are common.

import { asksForHelp } from "../facts.ts";
import type { PathClass } from "../paths/path-class.ts";
import { changeDirectory, locate, type Where } from "../paths/paths.ts";
import { isKnownProgram, isWrapper } from "../programs/programs.ts";
import { isBuiltinName } from "./builtin-names.ts";
import type { CommandContext, EffectiveCommand, Field } from "./command.ts";
import { shown } from "./marks.ts";

/** The reason why the program is unknown, with the protected path in its arguments. Null if nothing is at risk. */
export function unknownEffect(
  command: EffectiveCommand,
  around: CommandContext,
  where: Where,
): string | null {
  const why = unknownBecause(command, around, where);
  if (why === null || asksForHelp(command)) return null;
  const place = command.args.find((arg) => isProtected(arg, command));
  return place ? `${why}, and its arguments name ${shown(place.text)}` : null;
}

function unknownBecause(command: EffectiveCommand, around: CommandContext, where: Where): string | null {
  const { called, cwds } = command;
  if (called.includes("/")) {
    const inside = cwds.some((cwd) => isWritableByCommands(changeDirectory(called, cwd), where));
    return inside ? `commands can overwrite ${shown(called)}` : null;
  }
  if (isRedefined(command, around)) return `${shown(called)} was redefined`;
  if (isBuiltinName(called)) return null;
  const first = leadingEntry(command, around, where);
  return first === null ? null : `bash looks for ${shown(called)} in ${shown(first)} first`;
}

/** Whether a function with an unknown text has replaced the builtin or program, or the builtin is disabled. */
export function isRedefined({ called }: EffectiveCommand, { scope, via }: CommandContext): boolean {
  if (scope.names.redefined.size === 0 || !scope.names.redefined.has(called)) return false;
  return (
    !/^(builtin|command)$/.test(via.at(-1) ?? "") &&
    (isBuiltinName(called) || isKnownProgram(called) || isWrapper(called))
  );
}

/** The first entry of PATH that precedes the system directories and is writable by commands, or null. */
function leadingEntry(
  { assignments, cwds }: EffectiveCommand,
  { scope }: CommandContext,
  where: Where,
): string | null {
  const known = scope.variable("PATH")?.values;
  if (assignments.length === 0 && known === undefined) return null;
  const given = assignments.filter(({ name }) => name === "PATH").map(({ value }) => value);
  const values = given.length > 0 ? given : (known ?? []);
  for (const value of values) {
    for (const entry of value.split(":")) {
      if (/^\/(usr\/|s?bin(\/|$))/.test(entry)) break;
      if (cwds.some((cwd) => isWritableByCommands(`${changeDirectory(entry || ".", cwd)}/x`, where)))
        return entry || ".";
    }
  }
  return null;
}

/** Directories where package managers install the tools of a project. */
const TOOL_DIRECTORIES =
  /\/(node_modules\/\.bin|\.?v?env\/bin|\.?venv-?[\w.]*\/bin|vendor\/bin|\.tox\/[^/]+\/bin|\.nox\/[^/]+\/bin|\.direnv\/[^/]+\/bin|\.devbox\/.*\/bin)\//;

/** Whether commands may write to the path without approval. */
export function isWritableByCommands(path: string, where: Where): boolean {
  const { class: kind } = locate(path, "/", where);
  return (
    /^(inside-workspace|workspace|hooks|repository|temp|temp-root)$/.test(kind) &&
    !TOOL_DIRECTORIES.test(path)
  );
}

/**
 * Path classes that may be arguments of an unknown program. All other classes are protected, including classes that
 * are added later.
 */
const HARMLESS: ReadonlySet<PathClass> = new Set<PathClass>([
  "workspace",
  "inside-workspace",
  "repository",
  "hooks",
  "policy",
  "temp",
  "temp-root",
  "harmless-device",
  "network",
  "unknown",
]);

/** Data outside the workspace that workspaces often link to. */
const ELSEWHERE: ReadonlySet<PathClass> = new Set<PathClass>(["inside-home", "outside"]);

function isProtected({ text, flow }: Field, { cwds, links }: EffectiveCommand): boolean {
  if (flow || text.startsWith("-") || !(text.includes("/") || text === "..") || /^\w[\w+.-]*:/.test(text))
    return false;
  return cwds.some((cwd) => {
    const [named, ...linked] = links.resolve(text, cwd, true);
    return (
      (named !== undefined && !HARMLESS.has(named.class)) ||
      linked.some((place) => !HARMLESS.has(place.class) && !ELSEWHERE.has(place.class))
    );
  });
}

/** The program that a path was copied, moved or linked from, or null. */
export function originOf(
  { program, called, cwds }: EffectiveCommand,
  { scope: { made } }: CommandContext,
): string | null {
  if (!called.includes("/")) return null;
  for (const cwd of cwds) {
    const copied = made.copies.get(changeDirectory(called, cwd));
    if (copied !== undefined) return copied;
    // A link to a program of the same name is already judged by that name.
    const linked = made.links.followed(called, cwd, true).find((path) => !path.endsWith(`/${program}`));
    if (linked !== undefined) return linked;
  }
  return null;
}
