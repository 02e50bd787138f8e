// User rules after read-rules.ts has read and checked them.

import type { PathClass } from "./paths/path-class.ts";
import type { EffectKind } from "./programs/effect-kind.ts";

export interface UserRule {
  readonly id: string;
  readonly verdict: "allow" | "ask" | "deny";
  /** Program names, `*` for anything. */
  readonly program: readonly string[];
  /** Every pattern must match some argument. */
  readonly args: readonly string[];
  /** No pattern may match any argument. */
  readonly without: readonly string[];
  /** The effects it must have, if any. */
  readonly effects: readonly EffectKind[];
  /** The classes of paths these must affect. */
  readonly paths: readonly PathClass[];
  /** For `allow`: ids of built-in rules it lifts, a `deny` among them only by name. */
  readonly lifts: readonly string[];
  readonly reason: string | null;
  readonly alternative: string | null;
  readonly matches: readonly string[];
  readonly misses: readonly string[];
}

/** One file of rules. A file in the workspace can only tighten: otherwise the agent could allow its own commands. */
export interface UserRuleSet {
  readonly source: "user" | "workspace";
  /** Its path, if it is a file. */
  readonly file?: string;
  readonly rules: readonly UserRule[];
}
