import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { judge } from "../../src/policy/judge.ts";
import { readRules } from "../../src/policy/read-rules.ts";
import { RULES_SCHEMA } from "../../src/policy/rules-schema.ts";
import type { UserRuleSet } from "../../src/policy/user-rule.ts";
import { dev } from "./dev.ts";

function setOf(source: UserRuleSet["source"], ...rules: object[]): UserRuleSet {
  const reading = readRules({ version: 1, rules }, source);
  if (!reading.ok) throw new Error(reading.problems.map(({ message }) => message).join("\n"));
  return reading.set;
}

function problemsOf(value: unknown, source: UserRuleSet["source"] = "user"): readonly string[] {
  const reading = readRules(value, source);
  return reading.ok ? [] : reading.problems.map(({ message }) => message);
}

const noCurl = {
  id: "no-curl",
  verdict: "deny",
  program: "curl",
  reason: "No network here.",
  matches: ["curl x"],
  misses: ["ls"],
};
const allowClean = {
  id: "may-clean",
  verdict: "allow",
  program: "git",
  args: ["clean"],
  matches: ["git clean -fd"],
  misses: ["git push -f"],
};

describe("user rules", () => {
  it("a deny rule overrides an allow rule", () => {
    const allow = { id: "curl-ok", verdict: "allow", program: "curl", matches: ["curl x"] };
    const verdict = judge("curl -s localhost", { ...dev, rules: [setOf("user", noCurl, allow)] });
    expect(verdict).toMatchObject({ verdict: "deny", rule: "no-curl", reason: "No network here." });
  });

  it("an allow rule lifts the ask verdict of commands that it matches, and of no others", () => {
    const rules = [setOf("user", allowClean)];
    expect(judge("git clean -fd", { ...dev, rules }).verdict).toBe("allow");
    expect(judge("git clean -fd; git push -f", { ...dev, rules })).toMatchObject({
      verdict: "ask",
      rule: "git-lose-work",
    });
  });

  it("an allow rule lifts a built-in deny only if `lifts` contains the id of that rule", () => {
    const rm = { id: "may-rm", verdict: "allow", program: "rm", matches: ["rm -rf /"] };
    expect(judge("rm -rf /usr", { ...dev, rules: [setOf("user", rm)] }).verdict).toBe("deny");
    const named = { ...rm, lifts: ["delete-system"] };
    expect(judge("rm -rf /usr", { ...dev, rules: [setOf("user", named)] }).verdict).toBe("allow");
    expect(judge("rm -rf /", { ...dev, rules: [setOf("user", named)] }).verdict).toBe("deny");
  });

  it("a deny rule applies in every profile, and an ask rule applies in every profile except off", () => {
    const ask = { id: "ask-ls", verdict: "ask", program: "ls", matches: ["ls"] };
    const facts = { ...dev, rules: [setOf("user", noCurl, ask)], profile: "off" } as const;
    expect(judge("curl x", facts)).toMatchObject({ verdict: "deny", rule: "no-curl" });
    expect(judge("ls", facts).verdict).toBe("allow");
  });

  it("a workspace file with an allow rule is rejected", () => {
    expect(problemsOf({ version: 1, rules: [allowClean, noCurl] }, "workspace")).toEqual([
      "Rule may-clean: a file in the workspace can only ask and deny, because an agent could write it and allow its own commands; put an allow into your own policy file.",
    ]);
    expect(judge("curl x", { ...dev, rules: [setOf("workspace", noCurl)] }).verdict).toBe("deny");
  });

  it("an allow rule in a workspace file is ignored", () => {
    const rules = [{ ...setOf("user", allowClean), source: "workspace" as const }];
    expect(judge("git clean -fd", { ...dev, rules }).verdict).toBe("ask");
  });

  it("changing a rule file in any location needs approval", () => {
    const facts = { ...dev, policyFiles: ["/srv/rules/mine.json"] };
    expect(judge("echo '{}' > /srv/rules/mine.json", facts).rule).toBe("change-policy");
    const rules = [{ ...setOf("workspace", noCurl), file: "/home/dev/.nacre/policy.json" }];
    expect(judge("rm ../.nacre/policy.json", { ...dev, rules }).rule).toBe("change-policy");
  });

  it("a rule can match the effects of any program on a class of paths", () => {
    const rule = {
      id: "keep-temp",
      verdict: "deny",
      effects: ["delete"],
      paths: ["temp"],
      matches: ["rm /tmp/x"],
      misses: ["ls /tmp/x"],
    };
    expect(judge("find /tmp/a -delete", { ...dev, rules: [setOf("user", rule)] }).rule).toBe("keep-temp");
  });

  it("the message about a failing example names the rule", () => {
    const rules = [
      { ...noCurl, matches: ["wget x"] },
      { ...allowClean, misses: ["git clean -n"] },
    ];
    expect(problemsOf({ version: 1, rules })).toEqual([
      'Rule no-curl: it does not match its own example "wget x".',
      'Rule may-clean: it matches "git clean -n", an example that it must not match.',
    ]);
  });

  it("each mistake in a rule is reported", () => {
    const rules = [
      { id: "a", verdict: "maybe", program: 3, matches: ["x"] },
      { verdict: "ask", paths: ["moon"], matches: [], extra: 1 },
      7,
    ];
    const keys =
      "id, verdict, program, args, without, effects, paths, lifts, reason, alternative, matches, misses";
    expect(problemsOf({ version: 1, rules })).toEqual([
      "Rule a: verdict must be allow, ask or deny.",
      "Rule a: program must be a string or an array of strings.",
      "rules[1]: id must be a string.",
      'rules[1]: paths has an unknown value: "moon".',
      "rules[1]: matches must contain at least one command that the rule matches.",
      `rules[1] has an unknown key: extra; the known keys are ${keys}.`,
      "rules[2] must be an object.",
    ]);
    expect(problemsOf([])).toEqual(["The file must be an object."]);
    expect(problemsOf({ version: 2, rules: [] })).toEqual(["version must be 1."]);
    expect(problemsOf({ version: 1 })).toEqual(["rules must be an array of rules."]);
  });

  it("a contradictory rule is reported", () => {
    const rules = [
      { ...noCurl, id: "delete-root" },
      noCurl,
      { ...noCurl, lifts: "delete-root" },
      { id: "about-nothing", verdict: "ask", matches: "ls", misses: [] },
    ];
    expect(problemsOf({ version: 1, rules })).toEqual([
      "Rule delete-root: a built-in rule has this id; choose another.",
      "Rule no-curl: another rule has this id; choose another.",
      "Rule no-curl: only a rule with the verdict allow can lift other rules.",
      "Rule about-nothing: it must have at least one of the keys program, args, effects and paths.",
    ]);
  });
});

describe("the published schema", () => {
  const text = readFileSync(new URL("../../policy-rules.schema.json", import.meta.url), "utf8");

  it("is up to date; npm run fix writes it", () => expect(JSON.parse(text)).toEqual(RULES_SCHEMA));

  it("accepts and rejects the same files as readRules", () => {
    const validate = new Ajv2020().compile(JSON.parse(text));
    expect(validate({ version: 1, rules: [noCurl, { ...allowClean, lifts: ["git-lose-work"] }] })).toBe(true);
    expect(validate({ version: 1, rules: [{ ...noCurl, paths: "moon" }] })).toBe(false);
    expect(validate({ version: 1, rules: [{ id: "x", verdict: "ask", matches: "ls" }] })).toBe(false);
    expect(validate({ version: 1, rules: [{ ...noCurl, matches: [] }] })).toBe(false);
  });
});

describe("the profile", () => {
  it("off allows everything and still reports the findings", () => {
    const verdict = judge("rm -rf /", { ...dev, profile: "off" });
    expect(verdict).toMatchObject({ verdict: "allow", rule: null, severity: "none" });
    expect(verdict.findings[0]).toMatchObject({ rule: "delete-root", liftedBy: "profile off" });
  });

  it("trusting asks only about findings of high severity", () => {
    expect(judge("git clean -fd", { ...dev, profile: "trusting" }).verdict).toBe("allow");
    expect(judge("npm publish", { ...dev, profile: "trusting" }).verdict).toBe("ask");
    expect(judge("rm -rf /", { ...dev, profile: "trusting" }).verdict).toBe("deny");
  });

  it("cautious asks about unknown programs, unless a sandbox is enforced", () => {
    expect(judge("./build.sh", dev).verdict).toBe("allow");
    expect(judge("./build.sh", { ...dev, profile: "cautious" })).toMatchObject({
      verdict: "ask",
      rule: "unfamiliar-program",
    });
    expect(judge("./build.sh", { ...dev, profile: "cautious", sandboxed: true }).verdict).toBe("allow");
    expect(judge("git status", { ...dev, profile: "cautious" }).verdict).toBe("allow");
  });
});
