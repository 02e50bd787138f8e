// The settings that would allow a refused command when no person can be asked. Names each setting as the entry point
// of the command (library, CLI or MCP server) names it. No other file names such a flag or setting. Each setting is
// tested against the policy before nacre suggests it.
import type { SandboxProfile } from "../engine/confinement.ts";
import { EFFECT_KINDS } from "../policy/programs/effect-kind.ts";
import type { UserRule, UserRuleSet } from "../policy/user-rule.ts";
import type { PolicyFacts, Profile, Verdict } from "../policy/verdict.ts";

/** Where commands come from. Decides how a setting is named. */
export type EntryPoint = "library" | "cli" | "mcp";

interface Judging {
  readonly judge: (command: string, facts: PolicyFacts) => Verdict;
  readonly entryPoint: EntryPoint;
  readonly policyFiles: { readonly own: string };
}

/** Returns one sentence that begins with "To allow it". */
export function waysToAllow(command: string, verdict: Verdict, facts: PolicyFacts, judging: Judging): string {
  const allows = (changed: Partial<PolicyFacts>) =>
    judging.judge(command, { ...facts, ...changed }).verdict === "allow";
  const { person, profile, sandbox } = SETTINGS[judging.entryPoint];
  const confined = facts.terminal && allows({ sandboxed: true }) ? [sandbox] : [];
  const trusting = allows({ profile: "trusting" }) ? [profile("trusting")] : [];
  const off = trusting.length === 0 && allows({ profile: "off" }) ? [profile("off")] : [];
  const rule = byRule(verdict, facts, judging, allows);
  return `To allow it, ${[...confined, ...trusting, ...rule, ...off, person].join(", or ")}.`;
}

const SANDBOX: SandboxProfile = "workspace-write";

const SETTINGS: Readonly<
  Record<
    EntryPoint,
    { readonly person: string; readonly profile: (name: Profile) => string; readonly sandbox: string }
  >
> = {
  library: {
    person: "pass an approve callback that asks a person",
    profile: (name) => `set the option policy: "${name}"`,
    sandbox: `set the option sandbox: "${SANDBOX}"`,
  },
  cli: {
    person: "run it in a terminal, where you are asked",
    profile: (name) => `use: nacre run --policy ${name}`,
    sandbox: `use: nacre run --sandbox ${SANDBOX}`,
  },
  mcp: {
    person: "use a client that can ask a person (elicitation)",
    profile: (name) => `start the server with: nacre mcp --policy ${name}`,
    sandbox: `start the server with: nacre mcp --sandbox ${SANDBOX}`,
  },
};

/** Suggests a change to the user rules: a new rule, or a change to the rule that asked. */
function byRule(
  { findings }: Verdict,
  facts: PolicyFacts,
  { policyFiles }: Judging,
  allows: (changed: Partial<PolicyFacts>) => boolean,
): readonly string[] {
  const { rules = [] } = facts;
  const asking = [...new Set(findings.filter(({ liftedBy }) => liftedBy === null).map(({ rule }) => rule))];
  const own = asking.filter((id) => rules.some((set) => set.rules.some((rule) => rule.id === id)));
  if (own.length > 0) return own.map((id) => `change the rule ${id} in ${fileOfRule(id, rules)}`);
  if (asking.length === 0 || !allows({ rules: [...rules, lifting(asking)] })) return [];
  return [`add an allow rule with "lifts": ${JSON.stringify(asking)} to ${policyFiles.own}`];
}

function fileOfRule(id: string, sets: readonly UserRuleSet[]): string {
  return sets.find(({ rules }) => rules.some((rule) => rule.id === id))?.file ?? "the option rules";
}

/** The broadest user rules that would lift the given rules: one for any program, and one for any effect. */
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
