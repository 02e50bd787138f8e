// Rules that people write: what they look like. Reading and checking them is in read-rules.ts.

import type { PathClass } from "./paths/path-class.ts";
import type { EffectKind } from "./programs/effect-kind.ts";

export interface UserRule {
  readonly id: string;
  readonly verdict: "allow" | "ask" | "deny";
  /** Program names, `*` for anything. */
  readonly program: readonly string[];
  /** Every pattern must fit some argument. */
  readonly args: readonly string[];
  /** No pattern may fit any argument. */
  readonly without: readonly string[];
  /** What it must do, if anything in particular. */
  readonly effects: readonly EffectKind[];
  /** To which kind of place. */
  readonly paths: readonly PathClass[];
  /** For `allow`: ids of built-in rules it lifts, a `deny` among them only by name. */
  readonly lifts: readonly string[];
  readonly reason: string | null;
  readonly alternative: string | null;
  readonly matches: readonly string[];
  readonly misses: readonly string[];
}

/** One file of rules. What comes from the workspace can only tighten, or the agent could allow itself. */
export interface UserRuleSet {
  readonly source: "user" | "workspace";
  /** Where it lies, if it is a file. */
  readonly file?: string;
  readonly rules: readonly UserRule[];
}
