// What a command does to what one of its words names.

import type { Field } from "../shell-model/command.ts";
import type { EffectKind } from "./effect-kind.ts";

/** An effect before its word is resolved. */
export interface RawEffect {
  readonly kind: EffectKind;
  readonly target: Field;
  readonly recursive?: boolean;
  /** What exactly, where a rule cares: "truncate", "setuid", "extract". "replace": a link itself, not what it leads to. */
  readonly how?: string;
}
