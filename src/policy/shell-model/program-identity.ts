// Which program a name really runs. A name that was redefined, or is looked for in a directory that commands write to,
// may run anything; so may a program in the workspace. That matters where it is handed a place that must not be
// harmed, and only there: build scripts, aliases and virtual environments are everyday work.

import { asksForHelp } from "../facts.ts";
import type { PathClass } from "../paths/path-class.ts";
import { changeDirectory, locate, type Where } from "../paths/paths.ts";
import { isKnownProgram, isWrapper } from "../programs/programs.ts";
import type { CommandContext, EffectiveCommand, Field } from "./command.ts";
import { shown } from "./marks.ts";

/** Why it is not known what runs, and the place it is handed; null where all is well. */
export function disguised(command: EffectiveCommand, around: CommandContext, where: Where): string | null {
  const why = unknownBecause(command, around, where);
  if (why === null || asksForHelp(command)) return null;
  const place = command.args.find((arg) => isProtected(arg, command));
  return place ? `${why}, and it is handed ${shown(place.text)}` : null;
}

function unknownBecause(command: EffectiveCommand, around: CommandContext, where: Where): string | null {
  const { called, cwds } = command;
  if (called.includes("/")) {
    const inside = cwds.some((cwd) => isInReach(changeDirectory(called, cwd), where));
    return inside ? `${shown(called)} is a program that commands can write` : null;
  }
  if (isRedefined(command, around)) return `${shown(called)} was redefined`;
  const first = leadingEntry(command, around, where);
  return first === null || isBuiltinName(called)
    ? null
    : `${shown(called)} is looked for in ${shown(first)} first`;
}

/** Whether a function of unknown text, or nothing at all, stands where the builtin or program was. */
export function isRedefined({ called }: EffectiveCommand, { scope, via }: CommandContext): boolean {
  if (scope.names.redefined.size === 0 || !scope.names.redefined.has(called)) return false;
  return (
    !/^(builtin|command)$/.test(via.at(-1) ?? "") &&
    (isBuiltinName(called) || isKnownProgram(called) || isWrapper(called))
  );
}

const BUILTIN_NAMES: ReadonlySet<string> = new Set(
  ". : [ alias bg bind break builtin caller cd command compgen complete continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait".split(
    " ",
  ),
);

export function isBuiltinName(name: string): boolean {
  return BUILTIN_NAMES.has(name);
}

/** The first entry of PATH that a command can write to and that comes before those of the system; null where none does. */
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

/** Where package managers put the tools of a project. */
const TOOL_DIRECTORIES =
  /\/(node_modules\/\.bin|\.?v?env\/bin|\.?venv-?[\w.]*\/bin|vendor\/bin|\.tox\/[^/]+\/bin|\.nox\/[^/]+\/bin|\.direnv\/[^/]+\/bin|\.devbox\/.*\/bin)\//;

/** Whether commands write there as a matter of course. */
export function isInReach(path: string, where: Where): boolean {
  const { class: kind } = locate(path, "/", where);
  return (
    /^(inside-workspace|workspace|hooks|repository|temp|temp-root)$/.test(kind) &&
    !TOOL_DIRECTORIES.test(path)
  );
}

/** What an unknown program may be handed. Any other place may be harmed, also one of a class that is added later. */
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

/** What is often linked into a workspace: data that lies elsewhere. */
const ELSEWHERE: ReadonlySet<PathClass> = new Set<PathClass>(["inside-home", "outside"]);

function isProtected({ text, flow }: Field, { cwds, links }: EffectiveCommand): boolean {
  if (flow || text.startsWith("-") || !(text.includes("/") || text === "..") || /^\w[\w+.-]*:/.test(text))
    return false;
  return cwds.some((cwd) => {
    const [named, ...linked] = links.places(text, cwd, true);
    return (
      (named !== undefined && !HARMLESS.has(named.class)) ||
      linked.some((place) => !HARMLESS.has(place.class) && !ELSEWHERE.has(place.class))
    );
  });
}

/** The program a path was copied, moved or linked from; null where the command did nothing of the kind. */
export function originOf(
  { program, called, cwds }: EffectiveCommand,
  { scope: { made } }: CommandContext,
): string | null {
  if (!called.includes("/")) return null;
  for (const cwd of cwds) {
    const copied = made.copies.get(changeDirectory(called, cwd));
    if (copied !== undefined) return copied;
    // By the same name it is judged already.
    const linked = made.links.followed(called, cwd, true).find((path) => !path.endsWith(`/${program}`));
    if (linked !== undefined) return linked;
  }
  return null;
}
