// Reads a file of rules: checks its shape, then runs every rule's own examples, and names the rule that fails.
// The shape is published as a JSON schema in rules-schema.ts; where the file may lie is up to whoever loads it.

import { EFFECT_KINDS } from "./effects/effect.ts";
import { explainsRule } from "./judge.ts";
import { PATH_CLASSES } from "./path-class.ts";
import { RULES } from "./rules.ts";
import type { UserRule, UserRuleSet } from "./user-rule.ts";

export type RuleReading =
  | { readonly ok: true; readonly set: UserRuleSet; readonly ignored: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * @param value What `JSON.parse` made of the file.
 * @param source Where the file lies: rules of a workspace can only tighten.
 */
export function readRules(value: unknown, source: UserRuleSet["source"]): RuleReading {
  const problems: string[] = [];
  const rules = readList(value, problems);
  if (problems.length === 0) checkIds(rules, problems);
  if (problems.length === 0) for (const rule of rules) checkExamples(rule, problems);
  if (problems.length > 0) return { ok: false, problems };
  const ignored =
    source === "workspace" ? rules.filter(({ verdict }) => verdict === "allow").map(({ id }) => id) : [];
  return { ok: true, set: { source, rules }, ignored };
}

function readList(value: unknown, problems: string[]): readonly UserRule[] {
  if (!isRecord(value)) return fail(problems, "The file must hold an object with version and rules.");
  if (value["version"] !== 1) return fail(problems, "version must be 1.");
  for (const key of Object.keys(value)) {
    if (!["$schema", "version", "rules"].includes(key))
      problems.push(`Unknown key ${JSON.stringify(key)}; known are version and rules.`);
  }
  const { rules } = value;
  if (!Array.isArray(rules)) return fail(problems, "rules must be an array.");
  return rules.flatMap((rule: unknown, i) => readRule(rule, i, problems));
}

function fail(problems: string[], problem: string): readonly UserRule[] {
  problems.push(problem);
  return [];
}

const LISTS = ["program", "args", "without", "effects", "paths", "lifts", "matches", "misses"] as const;
const KEYS: ReadonlySet<string> = new Set([...LISTS, "id", "verdict", "reason", "alternative"]);

function readRule(value: unknown, index: number, problems: string[]): readonly UserRule[] {
  if (!isRecord(value)) return fail(problems, `rules[${index}] must be an object.`);
  const { id, verdict } = value;
  const name = typeof id === "string" && id !== "" ? id : `rules[${index}]`;
  const before = problems.length;
  const complain = (what: string) => problems.push(`Rule ${name}: ${what}`);
  if (name !== id) complain("id must be a text.");
  if (verdict !== "allow" && verdict !== "ask" && verdict !== "deny")
    complain("verdict must be allow, ask or deny.");
  for (const key of Object.keys(value)) if (!KEYS.has(key)) complain(`unknown key ${JSON.stringify(key)}.`);
  const texts = (key: (typeof LISTS)[number]) => readTexts(value[key], key, complain);
  const rule = {
    id: name,
    verdict: verdict as UserRule["verdict"],
    program: texts("program"),
    args: texts("args"),
    without: texts("without"),
    effects: known(texts("effects"), EFFECT_KINDS, "effects", complain),
    paths: known(texts("paths"), PATH_CLASSES, "paths", complain),
    lifts: known(
      texts("lifts"),
      RULES.map((built) => built.id),
      "lifts",
      complain,
    ),
    matches: texts("matches"),
    misses: texts("misses"),
    reason: readText(value["reason"], "reason", complain),
    alternative: readText(value["alternative"], "alternative", complain),
  };
  checkSense(rule, complain);
  return problems.length > before ? [] : [rule];
}

function checkSense(rule: UserRule, complain: (what: string) => void): void {
  if (rule.verdict !== "allow" && rule.lifts.length > 0) complain("only an allow can lift something.");
  const about = rule.program.length + rule.args.length + rule.effects.length + rule.paths.length;
  if (about === 0) complain("it must name a program, args, effects or paths.");
  if (rule.matches.length === 0) complain("matches must hold at least one command it is about.");
}

/** The words that are known; a complaint about every other one. */
function known<T extends string>(
  given: readonly string[],
  words: readonly T[],
  key: string,
  complain: (what: string) => void,
): readonly T[] {
  return given.flatMap((word) => {
    const found = words.find((one) => one === word);
    if (found === undefined) complain(`${key} does not know ${JSON.stringify(word)}.`);
    return found === undefined ? [] : [found];
  });
}

function readTexts(value: unknown, key: string, complain: (what: string) => void): readonly string[] {
  if (value === undefined) return [];
  const list = typeof value === "string" ? [value] : value;
  if (Array.isArray(list) && list.every((item) => typeof item === "string")) return list;
  complain(`${key} must be a text or an array of texts.`);
  return [];
}

function readText(value: unknown, key: string, complain: (what: string) => void): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value;
  complain(`${key} must be a text.`);
  return null;
}

function checkIds(rules: readonly UserRule[], problems: string[]): void {
  const seen = new Set<string>(RULES.map(({ id }) => id));
  for (const { id } of rules) {
    if (seen.has(id)) problems.push(`Rule ${id}: the id is taken.`);
    seen.add(id);
  }
}

function checkExamples(rule: UserRule, problems: string[]): void {
  for (const command of rule.matches) {
    if (!explainsRule(rule, command))
      problems.push(`Rule ${rule.id}: it does not match its own example ${JSON.stringify(command)}.`);
  }
  for (const command of rule.misses) {
    if (explainsRule(rule, command))
      problems.push(`Rule ${rule.id}: it matches ${JSON.stringify(command)}, which it should miss.`);
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
