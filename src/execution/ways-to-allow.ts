// What a refusal says about how the command could run, where the user cannot be asked. A model reads the refusals of the
// library and of MCP: it is sent to the user, and is not told which setting loosens the rules it works under. The user of the
// CLI is told: the only place that names such a flag or setting, and each way is tried on the policy before it is named.
import { EFFECT_KINDS } from "../policy/effects/effect-kind.ts";
import type { UserRule, UserRuleSet } from "../policy/user-rule.ts";
import type { PolicyFacts, Profile, Verdict } from "../policy/verdict.ts";

/** How commands get in: it decides who reads a refusal. */
export type Door = "library" | "cli" | "mcp";

interface Judging {
  readonly judge: (command: string, facts: PolicyFacts) => Verdict;
  readonly door: Door;
  readonly policyFiles: { readonly own: string };
}

/** One sentence. */
export function waysToAllow(command: string, verdict: Verdict, facts: PolicyFacts, judging: Judging): string {
  if (judging.door !== "cli") return FOR_MODELS[judging.door];
  const allows = (changed: Partial<PolicyFacts>) =>
    judging.judge(command, { ...facts, ...changed }).verdict === "allow";
  const profile = PROFILES.find((name) => allows({ profile: name }));
  const rule = byRule(verdict, facts, judging, allows);
  const trusting = profile === "trusting" ? [withProfile(profile)] : [];
  const off = profile === "off" ? [withProfile(profile)] : [];
  return `To allow it, ${[...trusting, ...rule, ...off, "run it in a terminal, where you are asked"].join(", or ")}.`;
}

const FOR_MODELS: Readonly<Record<Exclude<Door, "cli">, string>> = {
  library:
    "Ask the user to run it, or to approve it: the host program asks them if it was given an approve callback.",
  mcp: "Ask the user to run it, or to approve it: a client that supports elicitation asks them.",
};

/** The strictest first. */
const PROFILES: readonly Profile[] = ["trusting", "off"];

const withProfile = (name: Profile): string => `use: nacre run --policy ${name}`;

/** By a rule in a file of the person: a new one, or a change of the one that said so. */
function byRule(
  { findings }: Verdict,
  facts: PolicyFacts,
  { policyFiles }: Judging,
  allows: (changed: Partial<PolicyFacts>) => boolean,
): readonly string[] {
  const { rules = [] } = facts;
  const asking = [...new Set(findings.filter(({ liftedBy }) => liftedBy === null).map(({ rule }) => rule))];
  const own = asking.filter((id) => rules.some((set) => set.rules.some((rule) => rule.id === id)));
  if (own.length > 0) return own.map((id) => `change the rule ${id} in ${placeOf(id, rules)}`);
  if (asking.length === 0 || !allows({ rules: [...rules, lifting(asking)] })) return [];
  return [`add an allow rule with "lifts": ${JSON.stringify(asking)} to ${policyFiles.own}`];
}

function placeOf(id: string, sets: readonly UserRuleSet[]): string {
  return sets.find(({ rules }) => rules.some((rule) => rule.id === id))?.file ?? "the option rules";
}

/** The widest rules that lift these: about any program, and about anything that is done. */
function lifting(lifts: readonly string[]): UserRuleSet {
  const rule: UserRule = {
    id: "any-program",
    verdict: "allow",
    program: ["*"],
    args: [],
    without: [],
    effects: [],
    paths: [],
    lifts,
    reason: null,
    alternative: null,
    matches: [],
    misses: [],
  };
  return { source: "user", rules: [rule, { ...rule, id: "any-effect", program: [], effects: EFFECT_KINDS }] };
}
