// The entry nacre/policy: judge a command without running anything.

export { explain, judge } from "./policy/judge.ts";
export type {
  Decision,
  ExplainedCommand,
  ExplainedPath,
  Explanation,
  Finding,
  PolicyFacts,
  Profile,
  Severity,
  Span,
  Verdict,
} from "./policy/verdict.ts";
export type { UserRule, UserRuleSet } from "./policy/user-rule.ts";
