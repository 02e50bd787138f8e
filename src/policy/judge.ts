// The verdict for one command: walk it, ask every rule, let the strictest decide. Pure, and it never throws: whatever
// goes wrong on the way is a reason to ask.

import { messageOf } from "../support/errors.ts";
import { POLICY_FINDINGS_MAX_COUNT } from "../support/limits.ts";
import { Budget, BudgetSpent } from "./budget.ts";
import { decide, type RawFinding } from "./decide.ts";
import { type JudgedCommand, judgedCommand } from "./facts.ts";
import { forwardedCommand } from "./forwarded.ts";
import { shown } from "./marks.ts";
import { hiddenCharacters, isPackedForkBomb } from "./parse.ts";
import { describeWhere, type Where } from "./paths.ts";
import type { CommandRule } from "./rule.ts";
import { COMMAND_RULES, SIGN_RULES } from "./rules.ts";
import type { ExplainedCommand, Explanation, PolicyFacts, Span, Verdict } from "./verdict.ts";
import { Walk } from "./walk.ts";

/** What policy says about a command. */
export function judge(command: string, facts: PolicyFacts): Verdict {
  return examine(command, facts).verdict;
}

/** The same with the whole way there. */
export function explain(command: string, facts: PolicyFacts): Explanation {
  const { walk, judged, findings, verdict } = examine(command, facts);
  const problems = walk.signs.filter(({ kind }) => kind === "unparsed").map(({ detail }) => detail);
  const commands = judged.map((one): ExplainedCommand => {
    const rules = findings.filter(({ command: of }) => of === one).map(({ rule }) => rule);
    return explained(one, rules);
  });
  return { command, parse: { ok: problems.length === 0, problems }, commands, verdict };
}

interface Examination {
  readonly walk: Walk;
  readonly judged: readonly JudgedCommand[];
  readonly findings: readonly RawFinding[];
  readonly verdict: Verdict;
}

function examine(command: string, facts: PolicyFacts): Examination {
  const where = describeWhere(facts.home, facts.workspace ?? facts.cwd, facts.isRoot ?? false);
  const walk = new Walk(where, new Budget());
  const all: Span = { start: 0, end: command.length };
  const hidden = hiddenCharacters(command);
  if (hidden) walk.sign("hidden-characters", hidden.span, hidden.code);
  attempt(walk, all, () => walk.start(command, facts.cwd));
  if (walk.signs.some(({ kind }) => kind === "unparsed") && isPackedForkBomb(command)) {
    walk.sign("fork-bomb", all, "a function starts itself twice, again and again");
  }
  const judged: JudgedCommand[] = [];
  const findings: RawFinding[] = [];
  const cautious = facts.profile === "cautious" && facts.sandboxed !== true;
  const rules = COMMAND_RULES.filter(({ profile }) => profile === undefined || cautious);
  attempt(walk, all, () => judgeCommands(walk, where, rules, { judged, findings }));
  for (const { kind, span, detail } of walk.signs) {
    const rule = SIGN_RULES.get(kind);
    if (rule) add(findings, { rule: rule.id, verdict: rule.verdict, severity: rule.severity, reason: rule.reason(shown(detail)), span, alternative: rule.alternative, command: null });
  }
  return { walk, judged, findings, verdict: decide(findings, judged, facts) };
}

/** The one place where a failure becomes a finding. */
function attempt(walk: Walk, span: Span, work: () => void): void {
  try {
    work();
  } catch (thrown) {
    const spent = thrown instanceof BudgetSpent || thrown instanceof RangeError;
    walk.sign(spent ? "too-complex" : "policy-error", span, messageOf(thrown));
  }
}

interface Judgement {
  readonly judged: JudgedCommand[];
  readonly findings: RawFinding[];
}

function judgeCommands(walk: Walk, where: Where, rules: readonly CommandRule[], { judged, findings }: Judgement): void {
  let denied = 0;
  for (const effective of walk.commands) {
    const command = judgedCommand(effective, where);
    judged.push(command);
    for (const rule of rules) {
      const finding = applied(rule, command);
      if (!finding) continue;
      add(findings, finding);
      if (finding.verdict === "deny") denied += 1;
    }
    const forwarded = forwardedCommand(effective);
    if (forwarded) addForwarded(judgedCommand(forwarded, where), command, rules, findings);
    // More of the same would not change the answer.
    if (denied >= POLICY_FINDINGS_MAX_COUNT) return;
  }
}

function applied(rule: CommandRule, command: JudgedCommand): RawFinding | null {
  if (rule.programs && !rule.programs.test(command.program)) return null;
  const hit = rule.check(command);
  if (!hit) return null;
  const { id, verdict, severity, alternative } = rule;
  return { rule: id, verdict, severity, reason: hit.reason, span: hit.span ?? command.span, alternative, command };
}

function addForwarded(tail: JudgedCommand, command: JudgedCommand, rules: readonly CommandRule[], findings: RawFinding[]): void {
  const own = rules.find(({ id }) => id === "forwarded-danger");
  const worst = rules.map((rule) => applied(rule, tail)).find((finding) => finding?.verdict === "deny");
  if (!own || !worst) return;
  const { id, verdict, severity, alternative } = own;
  const reason = `${shown(command.program)} may hand on a command that would be refused: ${worst.reason}`;
  add(findings, { rule: id, verdict, severity, reason, span: worst.span, alternative, command });
}

/** Keeps one finding per rule and place; of too many, the ones that deny. */
function add(findings: RawFinding[], finding: RawFinding): void {
  if (findings.length >= POLICY_FINDINGS_MAX_COUNT && finding.verdict !== "deny") return;
  const known = findings.some(
    ({ rule, span }) => rule === finding.rule && span.start === finding.span.start && span.end === finding.span.end,
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
    paths: command.effects.map(({ kind, place, recursive }) => ({ effect: kind, path: shown(place.path), class: place.class, recursive })),
    rules: [...new Set(rules)],
  };
}
