// The kinds of things a command can do to a place.

import type { Field } from "../command.ts";

export const EFFECT_KINDS = ["delete", "move", "write", "append", "mode", "owner", "read"] as const;
export type EffectKind = (typeof EFFECT_KINDS)[number];

/** An effect before its word is resolved. */
export interface RawEffect {
  readonly kind: EffectKind;
  readonly target: Field;
  readonly recursive?: boolean;
  /** What exactly, where a rule cares: "truncate", "setuid", "extract". */
  readonly how?: string;
}
