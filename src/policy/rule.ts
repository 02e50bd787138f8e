// The shape of a built-in rule. To add one, put it into its family in rules/, with examples that match and examples that
// do not. One test runs the examples of all rules, with HOME=/home/dev in /home/dev/proj.

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
  /** What to do instead, if it is not what the rule says. */
  readonly alternative?: string;
}

interface RuleBase {
  readonly id: string;
  readonly verdict: "ask" | "deny";
  readonly severity: Severity;
  /** What to do instead. */
  readonly alternative: string;
  readonly matches: readonly string[];
  readonly misses: readonly string[];
  /** Only in this profile, and only where no sandbox is enforced. */
  readonly profile?: "cautious";
}

/** A rule's check of a command. `needs` only saves time: a long script applies every rule to each command. */
export interface Check {
  (command: JudgedCommand): Hit | null;
  /** It matches only commands with effects, or only these programs. */
  readonly needs?: "effects" | ((program: string) => boolean);
}

/** Checks every effective command. */
export interface CommandRule extends RuleBase {
  /** The programs it applies to. @default all */
  readonly programs?: RegExp;
  readonly check: Check;
}

/** Turns a sign of the walk into a finding. */
export interface SignRule extends RuleBase {
  readonly sign: SignKind;
  readonly reason: (detail: string) => string;
}

export type Rule = CommandRule | SignRule;

interface EffectPattern {
  readonly kinds: readonly EffectKind[];
  readonly classes: readonly PathClass[];
  /** A further condition. */
  readonly when?: (effect: Effect, command: JudgedCommand) => boolean;
  /** The reason, with `{path}` and `{program}` to fill in. */
  readonly reason: string;
}

/** A check that fires on the first effect of the given kinds on the given classes. */
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

/** A check that applies to some programs, by their record. */
export function onPrograms(needs: (program: string) => boolean, check: Check): Check {
  return Object.assign((command: JudgedCommand) => check(command), { needs });
}

/** A check that fires on an argv that fits. */
export function onArgs(
  test: (args: readonly string[], command: JudgedCommand) => boolean,
  says: string,
): Check {
  return (command) => {
    const args = command.args.map(({ text }) => text);
    return test(args, command) ? { reason: filled(says, "", command) } : null;
  };
}

function filled(says: string, path: string, command: JudgedCommand): string {
  return says
    .replace("{path}", () => path)
    .replace("{program}", () => shown(command.program) || "a redirection");
}
