// What would let this very command run where no person can be asked, in the words of the entryPoint it came through. The
// only place that names such a flag or setting; each way is tried on the policy before it is named.
import { EFFECT_KINDS } from "../policy/programs/effect-kind.ts";
import type { UserRule, UserRuleSet } from "../policy/user-rule.ts";
import type { PolicyFacts, Profile, Verdict } from "../policy/verdict.ts";

/** How commands get in: it decides what a setting is called. */
export type EntryPoint = "library" | "cli" | "mcp";

interface Judging {
  readonly judge: (command: string, facts: PolicyFacts) => Verdict;
  readonly entryPoint: EntryPoint;
  readonly policyFiles: { readonly own: string };
}

/** One sentence that begins with "To allow it". */
export function waysToAllow(command: string, verdict: Verdict, facts: PolicyFacts, judging: Judging): string {
  const allows = (changed: Partial<PolicyFacts>) =>
    judging.judge(command, { ...facts, ...changed }).verdict === "allow";
  const words = WORDS[judging.entryPoint];
  const trusting = allows({ profile: "trusting" }) ? [words.profile("trusting")] : [];
  const off = trusting.length === 0 && allows({ profile: "off" }) ? [words.profile("off")] : [];
  const rule = byRule(verdict, facts, judging, allows);
  return `To allow it, ${[...trusting, ...rule, ...off, words.person].join(", or ")}.`;
}

const WORDS: Readonly<
  Record<EntryPoint, { readonly person: string; readonly profile: (name: Profile) => string }>
> = {
  library: {
    person: "pass an approve callback that asks a person",
    profile: (name) => `set the option policy: "${name}"`,
  },
  cli: {
    person: "run it in a terminal, where you are asked",
    profile: (name) => `use: nacre run --policy ${name}`,
  },
  mcp: {
    person: "use a client that can ask a person (elicitation)",
    profile: (name) => `start the server with: nacre mcp --policy ${name}`,
  },
};

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
