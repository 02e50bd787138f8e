// The kinds of things a command can do to a place.

export const EFFECT_KINDS = ["delete", "move", "write", "append", "mode", "owner", "read"] as const;
export type EffectKind = (typeof EFFECT_KINDS)[number];
