// Reads user rules: checks their shape (rules-schema.ts), then checks every rule against its own examples. Each problem
// names the rule at fault. The caller decides which files to read.

import { matchesExample } from "./judge.ts";
import { RULES } from "./rules.ts";
import { ruleFileSchema, type WrittenRule } from "./rules-schema.ts";
import type { UserRule, UserRuleSet } from "./user-rule.ts";

/** An error in a rule file. */
export interface RuleProblem {
  /** The keys that lead to the value at fault: `["rules", 0, "verdict"]`. */
  readonly at: readonly (string | number)[];
  /** One sentence. Contains the id of the rule, if the rule has one. */
  readonly message: string;
}

export type RuleReading =
  | { readonly ok: true; readonly set: UserRuleSet }
  | { readonly ok: false; readonly problems: readonly RuleProblem[] };

/**
 * @param value The parsed JSON of the file.
 * @param source The owner of the file: rules of a workspace can only make the policy stricter.
 * @param file The path of the file, for messages.
 */
export function readRules(value: unknown, source: UserRuleSet["source"], file?: string): RuleReading {
  const parsed = ruleFileSchema().safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => shapeProblem(value, path, message));
    return { ok: false, problems };
  }
  const rules = parsed.data.rules.map(completed);
  const problems = rules.flatMap((rule, i) => {
    const before = rules.slice(0, i);
    const wrong = [...senseProblems(rule, before, source), ...exampleProblems(rule)];
    return wrong.map(([key, words]) => ({ at: ["rules", i, key], message: `Rule ${rule.id}: ${words}.` }));
  });
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, set: { source, rules, ...(file === undefined ? {} : { file }) } };
}

function shapeProblem(value: unknown, path: readonly PropertyKey[], message: string): RuleProblem {
  const at = path.map((key) => (typeof key === "number" ? key : String(key)));
  const [, index, ...keys] = at;
  if (at[0] !== "rules" || typeof index !== "number") {
    const what = at.length === 0 ? "The file" : at.join(".");
    return { at, message: `${what} ${message}.` };
  }
  const id: unknown = memberOf(memberOf(memberOf(value, "rules"), index), "id");
  const name = typeof id === "string" && id !== "" ? `Rule ${id}` : `rules[${index}]`;
  return {
    at,
    message: keys.length === 0 ? `${name} ${message}.` : `${name}: ${keys.join(".")} ${message}.`,
  };
}

function memberOf(value: unknown, key: string | number): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

/** Fills in defaults, and turns single values into lists. */
function completed(rule: WrittenRule): UserRule {
  return {
    id: rule.id,
    verdict: rule.verdict,
    program: listOf(rule.program),
    args: listOf(rule.args),
    without: listOf(rule.without),
    effects: listOf(rule.effects),
    paths: listOf(rule.paths),
    lifts: listOf(rule.lifts),
    reason: rule.reason ?? null,
    alternative: rule.alternative ?? null,
    matches: listOf(rule.matches),
    misses: listOf(rule.misses),
  };
}

function listOf<T extends string>(value: T | readonly T[] | undefined): readonly T[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}

/** The key at fault and an error message. */
type Complaint = readonly [key: string, message: string];

function senseProblems(
  rule: UserRule,
  before: readonly UserRule[],
  source: UserRuleSet["source"],
): readonly Complaint[] {
  const { id, verdict, lifts } = rule;
  const problems: Complaint[] = [];
  if (RULES.some((built) => built.id === id))
    problems.push(["id", "a built-in rule has this id; choose another"]);
  if (before.some((other) => other.id === id))
    problems.push(["id", "another rule has this id; choose another"]);
  if (verdict !== "allow" && lifts.length > 0)
    problems.push(["lifts", "only a rule with the verdict allow can lift other rules"]);
  if (rule.program.length + rule.args.length + rule.effects.length + rule.paths.length === 0)
    problems.push(["id", "it must have at least one of the keys program, args, effects and paths"]);
  if (source === "workspace" && verdict === "allow")
    problems.push([
      "verdict",
      "a file in the workspace can only ask and deny, because an agent could write it and allow its own commands; put an allow into your own policy file",
    ]);
  return problems;
}

function exampleProblems(rule: UserRule): readonly Complaint[] {
  return [
    ...rule.matches
      .filter((command) => !matchesExample(rule, command))
      .map((command) => ["matches", `it does not match its own example ${JSON.stringify(command)}`] as const),
    ...rule.misses
      .filter((command) => matchesExample(rule, command))
      .map(
        (command) =>
          ["misses", `it matches ${JSON.stringify(command)}, an example that it must not match`] as const,
      ),
  ];
}
