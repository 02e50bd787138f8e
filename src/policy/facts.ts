// What a command does to which places: the facts rules are written against, whatever program does it.

import type { EffectiveCommand, Field } from "./command.ts";
import { changesOf } from "./effects/changes.ts";
import { deletionsOf } from "./effects/deletions.ts";
import type { EffectKind, RawEffect } from "./effects/effect.ts";
import { permissionsOf } from "./effects/permissions.ts";
import { readsOf } from "./effects/reads.ts";
import { writesOf } from "./effects/writes.ts";
import { locate, type Place, type Where } from "./paths.ts";

export interface Effect {
  readonly kind: EffectKind;
  readonly target: Field;
  readonly place: Place;
  readonly recursive: boolean;
  readonly how: string;
}

/** A command together with what it does. */
export interface JudgedCommand extends EffectiveCommand {
  readonly effects: readonly Effect[];
}

export function judgedCommand(command: EffectiveCommand, where: Where): JudgedCommand {
  const raw = [
    ...redirected(command),
    ...(asksForHelp(command)
      ? []
      : [...deletionsOf(command), ...changesOf(command), ...writesOf(command), ...permissionsOf(command)]),
    ...readsOf(command),
  ];
  const effects = raw.flatMap((effect) => command.cwds.map((cwd) => resolved(effect, cwd, where)));
  return { ...command, effects };
}

function resolved(
  { kind, target, recursive = false, how = "" }: RawEffect,
  cwd: string,
  where: Where,
): Effect {
  // Some programs expand a tilde the shell has left alone.
  const text = target.text.startsWith("~/") ? where.home + target.text.slice(1) : target.text;
  const place = locate(text, cwd, where);
  return { kind, target, place, recursive: recursive || place.spread, how };
}

function redirected({ redirects }: EffectiveCommand): readonly RawEffect[] {
  return redirects.flatMap(({ operator, target }): readonly RawEffect[] => {
    if (operator === "<" || operator === "<&") return operator === "<" ? [{ kind: "read", target }] : [];
    if (/^(\d+|-|\d+-)$/.test(target.text) || target.flow) return [];
    return [{ kind: operator.endsWith(">>") ? "append" : "write", target, how: "redirect" }];
  });
}

/** A question about a program does nothing, whatever else stands there. */
export function asksForHelp({ args, program }: EffectiveCommand): boolean {
  if (args.some(({ text }) => text === "--help" || text === "--version")) return true;
  return args.length === 1 && (args[0]?.text === "-V" || (args[0]?.text === "-h" && program !== "chown"));
}
