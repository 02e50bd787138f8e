// The shape of a built-in rule. To add a rule, put it into the file of its family in rules/, with examples that match
// and examples that do not. One test runs the examples of all rules, with HOME=/home/dev in /home/dev/proj.

import type { Effect, JudgedCommand } from "./facts.ts";
import type { PathClass } from "./paths/path-class.ts";
import type { EffectKind } from "./programs/effect-kind.ts";
import type { SignKind } from "./shell-model/command.ts";
import { shown } from "./shell-model/marks.ts";
import type { Span } from "./shell-model/span.ts";
import type { Severity } from "./verdict.ts";

export interface Hit {
  /** One sentence: what would happen. */
  readonly reason: string;
  readonly span?: Span;
  /** Replaces the alternative of the rule. */
  readonly alternative?: string;
}

/** The fields that all rules have. judge.ts itself applies a rule that has neither a check nor a sign. */
export interface RuleBase {
  readonly id: string;
  readonly verdict: "ask" | "deny";
  readonly severity: Severity;
  /** What to do instead. */
  readonly alternative: string;
  readonly matches: readonly string[];
  readonly misses: readonly string[];
  /** The rule applies only in this profile, and only if no sandbox is enforced. */
  readonly profile?: "cautious";
}

/** A rule's check of a command. `needs` saves time: otherwise every rule would check every command of a long script. */
export interface Check {
  (command: JudgedCommand): Hit | null;
  /** "effects" if the check matches only commands with effects; a function if it matches only certain programs. */
  readonly needs?: "effects" | ((program: string) => boolean);
}

/** Checks every effective command. */
export interface CommandRule extends RuleBase {
  /** Matches the names of the programs that the rule checks. @default all */
  readonly programs?: RegExp;
  readonly check: Check;
}

/** Turns a sign that the walk found into a finding. */
export interface SignRule extends RuleBase {
  readonly sign: SignKind;
  readonly reason: (detail: string) => string;
}

export type Rule = CommandRule | SignRule | RuleBase;

interface EffectPattern {
  readonly kinds: readonly EffectKind[];
  readonly classes: readonly PathClass[];
  /** An additional condition for the effect. */
  readonly when?: (effect: Effect, command: JudgedCommand) => boolean;
  /** The reason, with the placeholders `{path}` and `{program}`. */
  readonly reason: string;
}

/** A check that matches the first effect of one of these kinds on a path of one of these classes. */
export function onEffect({ kinds, classes, when, reason }: EffectPattern): Check {
  const wanted = new Set<EffectKind>(kinds);
  const places = new Set<PathClass>(classes);
  const check = (command: JudgedCommand): Hit | null => {
    for (const effect of command.effects) {
      if (!wanted.has(effect.kind) || !places.has(effect.resolved.class)) continue;
      if (when && !when(effect, command)) continue;
      return { reason: filled(reason, shown(effect.resolved.path), command), span: effect.target.span };
    }
    return null;
  };
  return Object.assign(check, { needs: "effects" as const });
}

/** A check for the programs that `needs` accepts. */
export function onPrograms(needs: (program: string) => boolean, check: Check): Check {
  return Object.assign((command: JudgedCommand) => check(command), { needs });
}

/** A check that matches if the test accepts the arguments. */
export function onArgs(
  test: (args: readonly string[], command: JudgedCommand) => boolean,
  reason: string,
): Check {
  return (command) => {
    const args = command.args.map(({ text }) => text);
    return test(args, command) ? { reason: filled(reason, "", command) } : null;
  };
}

function filled(reason: string, path: string, command: JudgedCommand): string {
  return reason
    .replace("{path}", () => path)
    .replace("{program}", () => shown(command.program) || "a redirection");
}
