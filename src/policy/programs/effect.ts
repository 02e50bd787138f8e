// An effect of a command on the file that one of its words names.

import type { Field } from "../shell-model/command.ts";
import type { EffectKind } from "./effect-kind.ts";

/** An effect before its word is resolved to a path. */
export interface RawEffect {
  readonly kind: EffectKind;
  readonly target: Field;
  readonly recursive?: boolean;
  /**
   * A detail for rules: "truncate", "setuid", "extract". With "replace", the effect is on a link itself, not on its
   * target.
   */
  readonly how?: string;
}

/** The same effect on each target. */
export function effectsOn(
  targets: readonly Field[],
  kind: EffectKind,
  { how = "", recursive = false }: Partial<Pick<RawEffect, "how" | "recursive">> = {},
): readonly RawEffect[] {
  return targets.map((target) => ({ kind, target, recursive, how }));
}
