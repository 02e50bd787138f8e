// The effects of a command on classified paths. Rules check effects, so one rule covers all programs.

import type { ResolvedPath, Where } from "./paths/paths.ts";
import type { RawEffect } from "./programs/effect.ts";
import type { EffectKind } from "./programs/effect-kind.ts";
import { programEffects } from "./programs/program-effects.ts";
import { unmodelledEffects } from "./programs/unmodelled.ts";
import { isPathAtRisk } from "./protected-paths.ts";
import type { Budget } from "./shell-model/budget.ts";
import type { EffectiveCommand, Field } from "./shell-model/command.ts";

export interface Effect {
  readonly kind: EffectKind;
  readonly target: Field;
  readonly resolved: ResolvedPath;
  readonly recursive: boolean;
  readonly how: string;
}

/** A command with its effects. */
export interface JudgedCommand extends EffectiveCommand {
  readonly effects: readonly Effect[];
}

export function judgedCommand(command: EffectiveCommand, where: Where, budget: Budget): JudgedCommand {
  const own = programEffects(command);
  const unexplained = unmodelledEffects(command, own);
  const raw =
    command.redirects.length + unexplained.length > 0
      ? [...redirected(command), ...own, ...unexplained]
      : own;
  if (raw.length === 0) return withEffects(command, NONE);
  const meant = asksForHelp(command)
    ? raw.filter(({ kind, how }) => kind === "read" || how === "redirect")
    : raw.filter(({ target, how }) => target.text !== "-" || how === "redirect");
  budget.spend((meant.length + 4 * unexplained.length) * command.cwds.length);
  const effects = meant.flatMap((effect) =>
    command.cwds.flatMap((cwd) => resolved(effect, cwd, where, command)),
  );
  return withEffects(command, effects);
}

/**
 * Copies each field by name instead of spreading the object: the spread was the slowest part of judging a plain
 * command.
 */
function withEffects(command: EffectiveCommand, effects: readonly Effect[]): JudgedCommand {
  const {
    program,
    called,
    isDefined,
    args,
    assignments,
    redirects,
    cwds,
    via,
    stdin,
    links,
    substituted,
    span,
  } = command;
  return {
    program,
    called,
    isDefined,
    args,
    assignments,
    redirects,
    cwds,
    via,
    stdin,
    links,
    substituted,
    span,
    effects,
  };
}

const NONE: readonly Effect[] = [];

/** The effect on the path that the word names, and on the targets of links in that path. */
function resolved(
  { kind, target, recursive = false, how = "" }: RawEffect,
  cwd: string,
  where: Where,
  { links }: EffectiveCommand,
): readonly Effect[] {
  // Some programs expand a tilde that the shell leaves unexpanded.
  const text = target.text.startsWith("~/") ? where.home + target.text.slice(1) : target.text;
  // Deleting, moving or replacing a link does not affect its target, unless a slash follows its name.
  const follows = kind !== "delete" && kind !== "move" && how !== "replace";
  return links
    .resolve(text, cwd, follows)
    .filter((path, i) => kind !== "may-write" || isPathAtRisk(path, how, i === 0))
    .map((path) => ({ kind, target, resolved: path, recursive: recursive || path.spread, how }));
}

function redirected({ redirects }: EffectiveCommand): readonly RawEffect[] {
  return redirects.flatMap(({ operator, target }): readonly RawEffect[] => {
    if (operator === "<" || operator === "<&") return operator === "<" ? [{ kind: "read", target }] : [];
    if (/^(\d+|-|\d+-)$/.test(target.text) || target.flow) return [];
    return [{ kind: operator.endsWith(">>") ? "append" : "write", target, how: "redirect" }];
  });
}

/** Whether the command only prints its help or version. Its other arguments then have no effect. */
export function asksForHelp({ args, program }: EffectiveCommand): boolean {
  if (args.some(({ text }) => text === "--help") || args.at(-1)?.text === "--version") return true;
  return args.length === 1 && (args[0]?.text === "-V" || (args[0]?.text === "-h" && program !== "chown"));
}
