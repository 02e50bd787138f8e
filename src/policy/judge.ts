// Judges one command: walks it, applies every rule, and lets the strictest finding decide. This code is pure and never
// throws: an internal failure becomes the verdict `ask`.

import { messageOf } from "../support/errors.ts";
import {
  POLICY_ARGUMENTS_MAX_CHARS,
  POLICY_COMMANDS_MAX_COUNT,
  POLICY_FINDINGS_MAX_COUNT,
} from "../support/limits.ts";
import { isErrorNamed } from "../support/realms.ts";
import { decide, type RawFinding } from "./decide.ts";
import { type JudgedCommand, judgedCommand } from "./facts.ts";
import { forwardedCommand } from "./forwarded.ts";
import { describeWhere, type Where } from "./paths/paths.ts";
import { isKnownProgram } from "./programs/programs.ts";
import { remembered } from "./remembered.ts";
import type { CommandRule, Rule } from "./rule.ts";
import { ruleMatches } from "./rule-matches.ts";
import { TERMINAL_RULE } from "./rules/terminal-input.ts";
import { FORWARDED_RULE } from "./rules/unfamiliar.ts";
import { COMMAND_RULES, SIGN_RULES } from "./rules.ts";
import { Budget, BudgetSpent } from "./shell-model/budget.ts";
import type { EffectiveCommand, Sign } from "./shell-model/command.ts";
import { shown } from "./shell-model/marks.ts";
import { hiddenCharacters, isPackedForkBomb } from "./shell-model/parse.ts";
import type { Span } from "./shell-model/span.ts";
import { Walk } from "./shell-model/walk.ts";
import type { UserRule } from "./user-rule.ts";
import type { ExplainedCommand, Explanation, PolicyFacts, Verdict } from "./verdict.ts";

/** The verdict on a command. */
export function judge(command: string, facts: PolicyFacts): Verdict {
  return new Examination(command, facts, false).verdict();
}

/** The verdict with the effective commands, their paths and all rules that matched. */
export function explain(command: string, facts: PolicyFacts): Explanation {
  const examination = new Examination(command, facts, true);
  const verdict = examination.verdict();
  const problems = examination.walk.signs
    .filter(({ kind }) => kind === "unparsed")
    .map(({ detail }) => detail);
  const commands = examination.judged.map((one): ExplainedCommand => {
    const rules = examination.findings.filter(({ command: of }) => of === one).map(({ rule }) => rule);
    return explained(one, rules);
  });
  return { command, parse: { ok: problems.length === 0, problems }, commands, verdict };
}

/** Whether a user rule matches any part of an example command. Assumes HOME=/home/dev and the directory ~/proj. */
export function matchesExample(rule: UserRule, command: string): boolean {
  const examination = new Examination(command, { home: "/home/dev", cwd: "/home/dev/proj" }, true);
  examination.verdict();
  return examination.judged.some((one) => ruleMatches(rule, one));
}

class Examination {
  readonly walk: Walk;
  readonly judged: JudgedCommand[] = [];
  readonly findings: RawFinding[] = [];
  readonly #command: string;
  readonly #facts: PolicyFacts;
  readonly #where: Where;
  readonly #rulesFor: (program: string) => RulesForProgram;
  /** Whether `judged` must contain every command, not only those with findings. */
  readonly #keepsAll: boolean;
  #denied = 0;

  constructor(command: string, facts: PolicyFacts, keepsAll: boolean) {
    this.#command = command;
    this.#facts = facts;
    this.#keepsAll = keepsAll || (facts.rules?.length ?? 0) > 0;
    this.#where = describeWhere(facts);
    const cautious = facts.profile === "cautious" && facts.sandboxed !== true;
    this.#rulesFor = cautious ? cautiousRules : standardRules;
    this.walk = new Walk(facts, this.#where, new Budget(command.length), (effective) =>
      this.#judge(effective),
    );
  }

  verdict(): Verdict {
    const { walk } = this;
    const all: Span = { start: 0, end: this.#command.length };
    const hidden = hiddenCharacters(this.#command);
    // Add this finding first: among equally strict findings, the first one supplies the reason.
    if (hidden) this.#addSign({ kind: "hidden-characters", span: hidden.span, detail: hidden.code });
    attempt(walk, all, () => walk.start(this.#command));
    if (walk.signs.some(({ kind }) => kind === "unparsed") && isPackedForkBomb(this.#command)) {
      walk.sign("fork-bomb", all, "a function starts itself twice");
    }
    for (const sign of walk.signs) this.#addSign(sign);
    if (this.#facts.terminal && this.#facts.sandboxed !== true)
      add(this.findings, findingOf(TERMINAL_RULE, { reason: TERMINAL_RULE.reason, span: all }, null));
    return decide(this.findings, this.judged, this.#facts);
  }

  #addSign({ kind, span, detail }: Sign): void {
    const rule = SIGN_RULES.get(kind);
    if (rule) add(this.findings, findingOf(rule, { reason: rule.reason(shown(detail)), span }, null));
  }

  #judge(effective: EffectiveCommand): void {
    // Further findings would not change the verdict.
    if (this.#denied >= POLICY_FINDINGS_MAX_COUNT) return;
    const command = judgedCommand(effective, this.#where, this.walk.budget);
    const rules = this.#rulesWithin(this.#rulesAbout(command), command);
    this.walk.budget.spend(this.#stepsFor(command));
    const before = this.findings.length;
    for (const rule of rules) {
      const finding = applied(rule, command);
      if (!finding) continue;
      add(this.findings, finding);
      if (finding.verdict === "deny") this.#denied += 1;
    }
    const forwarded = forwardedCommand(effective);
    if (forwarded) this.#judgeForwarded(judgedCommand(forwarded, this.#where, this.walk.budget), command);
    if (!this.#keepsAll && this.findings.length === before) return;
    if (this.judged.length < POLICY_COMMANDS_MAX_COUNT) this.judged.push(command);
    // Do not drop a command if there are user rules: they must see every command, or a long script could bypass them.
    else if (this.#keepsAll) throw new BudgetSpent("too many commands");
  }

  #rulesAbout({ program, effects }: JudgedCommand): readonly CommandRule[] {
    const { all, withoutEffects } = this.#rulesFor(program);
    return effects.length > 0 ? all : withoutEffects;
  }

  /**
   * The cost of the rules that apply to this command in particular. The walk has already charged the budget for the
   * rules that apply to every command.
   */
  #stepsFor({ program, effects }: JudgedCommand): number {
    const { own, aboutEffects } = this.#rulesFor(program);
    return (
      own * OWN_RULE_STEPS + (effects.length > 0 ? aboutEffects * EFFECT_RULE_STEPS + 3 * effects.length : 0)
    );
  }

  /** Skips the rules about a program's arguments if the arguments are too long to check. */
  #rulesWithin(
    rules: readonly CommandRule[],
    { args, span, program }: JudgedCommand,
  ): readonly CommandRule[] {
    let chars = 0;
    for (const { text } of args) chars += text.length + 1;
    if (chars <= POLICY_ARGUMENTS_MAX_CHARS) return rules;
    this.walk.budget.spend(chars / 16);
    const general = rules.filter(({ programs, check }) => !programs && typeof check.needs !== "function");
    if (general.length < rules.length || !isKnownProgram(program))
      this.walk.sign("too-complex", span, "too many arguments");
    return general;
  }

  #judgeForwarded(tail: JudgedCommand, command: JudgedCommand): void {
    const hits = this.#rulesAbout(tail).map((rule) => applied(rule, tail));
    const worst = hits.find((finding) => finding?.verdict === "deny");
    if (!worst) return;
    const reason = `${shown(command.program)} may run a command that the policy would deny: ${worst.reason}`;
    add(this.findings, findingOf(FORWARDED_RULE, { reason, span: worst.span }, command));
  }
}

/** Rules for a program search its arguments, which costs more than comparing the path classes of effects. */
const OWN_RULE_STEPS = 0.45;
const EFFECT_RULE_STEPS = 0.2;

interface RulesForProgram {
  readonly all: readonly CommandRule[];
  /** The rules that can match a command without effects. */
  readonly withoutEffects: readonly CommandRule[];
  /** The number of rules that apply only to certain programs, including this one. */
  readonly own: number;
  /** The number of rules that apply only to commands with effects. */
  readonly aboutEffects: number;
}

function chosen(rules: readonly CommandRule[], program: string): RulesForProgram {
  const all = rules.filter(({ programs, check: { needs } }) => {
    return (programs?.test(program) ?? true) && (typeof needs !== "function" || needs(program));
  });
  const withoutEffects = all.filter(({ check }) => check.needs !== "effects");
  const own = withoutEffects.filter(({ programs, check }) => programs || check.needs).length;
  return { all, withoutEffects, own, aboutEffects: all.length - withoutEffects.length };
}

const STANDARD_RULES = COMMAND_RULES.filter(({ profile }) => profile === undefined);
const standardRules = remembered((program) => chosen(STANDARD_RULES, program));
const cautiousRules = remembered((program) => chosen(COMMAND_RULES, program));

/** Does the work. Turns an error into a sign, because judge() must return a verdict in every case. */
function attempt(walk: Walk, span: Span, work: () => void): void {
  try {
    work();
  } catch (thrown) {
    const spent = thrown instanceof BudgetSpent || isErrorNamed(thrown, "RangeError");
    walk.sign(spent ? "too-complex" : "policy-error", span, messageOf(thrown));
  }
}

function applied(rule: CommandRule, command: JudgedCommand): RawFinding | null {
  const hit = rule.check(command);
  if (!hit) return null;
  const { reason, span = command.span, alternative = rule.alternative } = hit;
  return findingOf({ ...rule, alternative }, { reason, span }, command);
}

function findingOf(
  { id, verdict, severity, alternative }: Pick<Rule, "id" | "verdict" | "severity" | "alternative">,
  { reason, span }: { readonly reason: string; readonly span: Span },
  command: JudgedCommand | null,
): RawFinding {
  return { rule: id, verdict, severity, reason, span, alternative, command };
}

/** Adds at most one finding per rule and span. If the list is full, adds only `deny` findings. */
function add(findings: RawFinding[], finding: RawFinding): void {
  if (findings.length >= POLICY_FINDINGS_MAX_COUNT && finding.verdict !== "deny") return;
  const known = findings.some(
    ({ rule, span }) =>
      rule === finding.rule && span.start === finding.span.start && span.end === finding.span.end,
  );
  if (!known) findings.push(finding);
}

function explained(command: JudgedCommand, rules: readonly string[]): ExplainedCommand {
  return {
    program: shown(command.called),
    args: command.args.map(({ text }) => shown(text)),
    via: command.via,
    cwd: command.cwds.map(shown),
    span: command.span,
    paths: command.effects.map(({ kind, resolved, recursive }) => ({
      effect: kind,
      path: shown(resolved.path),
      class: resolved.class,
      recursive,
    })),
    rules: [...new Set(rules)],
  };
}
