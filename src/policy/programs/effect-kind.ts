// The kinds of effects that a command can have on a file.

export const EFFECT_KINDS = [
  "delete",
  "move",
  "write",
  "append",
  "mode",
  "owner",
  "read",
  "may-write",
] as const;
export type EffectKind = (typeof EFFECT_KINDS)[number];
