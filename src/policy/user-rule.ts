// User rules after read-rules.ts has read and checked them.

import type { PathClass } from "./paths/path-class.ts";
import type { EffectKind } from "./programs/effect-kind.ts";

export interface UserRule {
  readonly id: string;
  readonly verdict: "allow" | "ask" | "deny";
  /** Patterns for the name of the program; `*` matches anything. */
  readonly program: readonly string[];
  /** Every pattern must match some argument. */
  readonly args: readonly string[];
  /** No pattern may match any argument. */
  readonly without: readonly string[];
  /** The command must have one of these effects. @default any or none */
  readonly effects: readonly EffectKind[];
  /** The effect must be on a path of one of these classes. @default any */
  readonly paths: readonly PathClass[];
  /**
   * For `allow`: ids of the built-in rules to lift. An empty list lifts every `ask` about the commands that the rule
   * matches, but no `deny`.
   */
  readonly lifts: readonly string[];
  readonly reason: string | null;
  readonly alternative: string | null;
  readonly matches: readonly string[];
  readonly misses: readonly string[];
}

/**
 * One file of rules. A file in the workspace cannot allow anything: otherwise the agent could allow its own commands.
 */
export interface UserRuleSet {
  readonly source: "user" | "workspace";
  /** The path of the file. */
  readonly file?: string;
  readonly rules: readonly UserRule[];
}
