// Combines findings into one verdict. Applies the profile and user rules; the strictest remaining finding decides.

import type { JudgedCommand } from "./facts.ts";
import { ruleMatches } from "./rule-matches.ts";
import type { UserRule } from "./user-rule.ts";
import { byStrictness, type Finding, type PolicyFacts, type Severity, type Verdict } from "./verdict.ts";

/** A finding with its command, or with null if the finding is about the whole text. */
export interface RawFinding extends Omit<Finding, "liftedBy"> {
  readonly command: JudgedCommand | null;
}

export function decide(
  raw: readonly RawFinding[],
  commands: readonly JudgedCommand[],
  facts: PolicyFacts,
): Verdict {
  const rules = rulesOf(facts);
  const own = rules
    .filter(({ verdict }) => verdict !== "allow")
    .flatMap((rule) => findingsOf(rule, commands));
  const findings = [...raw, ...own].map((finding): Finding => {
    const { command, ...rest } = finding;
    return { ...rest, liftedBy: liftedBy(finding, commands, rules, facts) };
  });
  findings.sort(byStrictness);
  const [first] = findings;
  const decisive = first && first.liftedBy === null ? first : null;
  return {
    verdict: decisive?.verdict ?? "allow",
    rule: decisive?.rule ?? null,
    severity: decisive?.severity ?? "none",
    reason: decisive?.reason ?? null,
    span: decisive?.span ?? null,
    alternative: decisive?.alternative ?? null,
    findings,
  };
}

/** Leaves out the allow rules of a workspace, because workspace rules may only make the policy stricter. */
function rulesOf({ rules = [] }: PolicyFacts): readonly UserRule[] {
  return rules.flatMap(({ source, rules: list }) =>
    source === "user" ? list : list.filter(({ verdict }) => verdict !== "allow"),
  );
}

function findingsOf(rule: UserRule, commands: readonly JudgedCommand[]): readonly RawFinding[] {
  const command = commands.find((one) => ruleMatches(rule, one));
  if (!command || rule.verdict === "allow") return [];
  const { id, verdict, reason, alternative } = rule;
  return [
    {
      rule: id,
      verdict,
      severity: "high",
      reason: reason ?? `The user rule ${id} matches.`,
      span: command.span,
      alternative,
      command,
    },
  ];
}

function liftedBy(
  finding: RawFinding,
  commands: readonly JudgedCommand[],
  rules: readonly UserRule[],
  { profile }: PolicyFacts,
): string | null {
  // A deny rule that the user has written applies in every profile.
  if (rules.some(({ id, verdict }) => id === finding.rule && verdict === "deny")) return null;
  if (profile === "off") return "profile off";
  for (const rule of rules) {
    if (rule.verdict !== "allow") continue;
    // An allow rule lifts a `deny` only if it lists the id of the rule that denies.
    if (finding.verdict === "deny" && !rule.lifts.includes(finding.rule)) continue;
    if (rule.lifts.length > 0 && !rule.lifts.includes(finding.rule)) continue;
    const { command } = finding;
    if (
      command
        ? ruleMatches(rule, command)
        : rule.lifts.includes(finding.rule) && commands.some((one) => ruleMatches(rule, one))
    )
      return rule.id;
  }
  const light: readonly Severity[] = ["low", "medium"];
  if (profile === "trusting" && finding.verdict === "ask" && light.includes(finding.severity))
    return "profile trusting";
  return null;
}
