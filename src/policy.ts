// The entry nacre/policy: judge a command without running anything, and read user rules.

export { explain, judge } from "./policy/judge.ts";
export { type RuleProblem, type RuleReading, readRules } from "./policy/read-rules.ts";
export { RULES_SCHEMA, type WrittenRule } from "./policy/rules-schema.ts";
export type { LinkReader } from "./policy/shell-model/link-reader.ts";
export type { SessionFacts } from "./policy/shell-model/session-facts.ts";
export type { Span } from "./policy/shell-model/span.ts";
export type { UserRule, UserRuleSet } from "./policy/user-rule.ts";
export type {
  Decision,
  ExplainedCommand,
  ExplainedPath,
  Explanation,
  Finding,
  PolicyFacts,
  Profile,
  Severity,
  Verdict,
} from "./policy/verdict.ts";
