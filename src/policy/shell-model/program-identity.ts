// Which program a name really runs. A redefined name, a name found in a directory that commands can write, and a program
// in the workspace can run anything. That matters only if an argument names a protected path: build scripts, aliases and
// virtual environments are ordinary.

import { asksForHelp } from "../facts.ts";
import type { PathClass } from "../paths/path-class.ts";
import { changeDirectory, locate, type Where } from "../paths/paths.ts";
import { isKnownProgram, isWrapper } from "../programs/programs.ts";
import { isBuiltinName } from "./builtin-names.ts";
import type { CommandContext, EffectiveCommand, Field } from "./command.ts";
import { shown } from "./marks.ts";

/** Why the program is unknown, and the protected path it gets; null if nothing is at risk. */
export function unknownEffect(
  command: EffectiveCommand,
  around: CommandContext,
  where: Where,
): string | null {
  const why = unknownBecause(command, around, where);
  if (why === null || asksForHelp(command)) return null;
  const place = command.args.find((arg) => isProtected(arg, command));
  return place ? `${why}; it gets ${shown(place.text)}` : null;
}

function unknownBecause(command: EffectiveCommand, around: CommandContext, where: Where): string | null {
  const { called, cwds } = command;
  if (called.includes("/")) {
    const inside = cwds.some((cwd) => isInReach(changeDirectory(called, cwd), where));
    return inside ? `${shown(called)} can be written by commands` : null;
  }
  if (isRedefined(command, around)) return `${shown(called)} was redefined`;
  const first = leadingEntry(command, around, where);
  return first === null || isBuiltinName(called)
    ? null
    : `${shown(called)} is searched in ${shown(first)} first`;
}

/** Whether a function of unknown text has replaced the builtin or program, or the builtin was disabled. */
export function isRedefined({ called }: EffectiveCommand, { scope, via }: CommandContext): boolean {
  if (scope.names.redefined.size === 0 || !scope.names.redefined.has(called)) return false;
  return (
    !/^(builtin|command)$/.test(via.at(-1) ?? "") &&
    (isBuiltinName(called) || isKnownProgram(called) || isWrapper(called))
  );
}

/** The first entry of PATH that a command can write to and that precedes the system's entries, or null. */
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
      if (cwds.some((cwd) => isInReach(`${changeDirectory(entry || ".", cwd)}/x`, where)))
        return entry || ".";
    }
  }
  return null;
}

/** Directories where package managers install the tools of a project. */
const TOOL_DIRECTORIES =
  /\/(node_modules\/\.bin|\.?v?env\/bin|\.?venv-?[\w.]*\/bin|vendor\/bin|\.tox\/[^/]+\/bin|\.nox\/[^/]+\/bin|\.direnv\/[^/]+\/bin|\.devbox\/.*\/bin)\//;

/** Whether commands may write there without approval. */
export function isInReach(path: string, where: Where): boolean {
  const { class: kind } = locate(path, "/", where);
  return (
    /^(inside-workspace|workspace|hooks|repository|temp|temp-root)$/.test(kind) &&
    !TOOL_DIRECTORIES.test(path)
  );
}

/** Classes of paths that an unknown program may get. All others are protected, including classes added later. */
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

/** Data elsewhere that workspaces often link to. */
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
    // A link to a program of the same name is judged by that name already.
    const linked = made.links.followed(called, cwd, true).find((path) => !path.endsWith(`/${program}`));
    if (linked !== undefined) return linked;
  }
  return null;
}
