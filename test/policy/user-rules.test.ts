import { describe, expect, it } from "vitest";
import { judge } from "../../src/policy/judge.ts";
import { readRules } from "../../src/policy/read-rules.ts";
import { RULES_SCHEMA } from "../../src/policy/rules-schema.ts";
import type { UserRuleSet } from "../../src/policy/user-rule.ts";
import { dev } from "./dev.ts";

function setOf(source: UserRuleSet["source"], ...rules: object[]): UserRuleSet {
  const reading = readRules({ version: 1, rules }, source);
  if (!reading.ok) throw new Error(reading.problems.join("\n"));
  return reading.set;
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

describe("rules of people", () => {
  it("a deny beats everything", () => {
    const allow = { id: "curl-ok", verdict: "allow", program: "curl", matches: ["curl x"] };
    const verdict = judge("curl -s localhost", { ...dev, rules: [setOf("user", noCurl, allow)] });
    expect(verdict).toMatchObject({ verdict: "deny", rule: "no-curl", reason: "No network here." });
  });

  it("an allow lifts an ask of the command it is about, and only of that", () => {
    const rules = [setOf("user", allowClean)];
    expect(judge("git clean -fd", { ...dev, rules }).verdict).toBe("allow");
    expect(judge("git clean -fd; git push -f", { ...dev, rules })).toMatchObject({
      verdict: "ask",
      rule: "git-lose-work",
    });
  });

  it("an allow lifts a built-in deny only by its id", () => {
    const rm = { id: "may-rm", verdict: "allow", program: "rm", matches: ["rm -rf /"] };
    expect(judge("rm -rf /usr", { ...dev, rules: [setOf("user", rm)] }).verdict).toBe("deny");
    const named = { ...rm, lifts: ["delete-system"] };
    expect(judge("rm -rf /usr", { ...dev, rules: [setOf("user", named)] }).verdict).toBe("allow");
    expect(judge("rm -rf /", { ...dev, rules: [setOf("user", named)] }).verdict).toBe("deny");
  });

  it("a file of the workspace can only tighten", () => {
    const reading = readRules({ version: 1, rules: [allowClean, noCurl] }, "workspace");
    expect(reading).toMatchObject({ ok: true, ignored: ["may-clean"] });
    const rules = reading.ok ? [reading.set] : [];
    expect(judge("git clean -fd", { ...dev, rules }).verdict).toBe("ask");
    expect(judge("curl x", { ...dev, rules }).verdict).toBe("deny");
  });

  it("a rule may be about what is done to which place, by whatever program", () => {
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

  it("an example that fails names the rule", () => {
    const wrong = readRules(
      {
        version: 1,
        rules: [
          { ...noCurl, matches: ["wget x"] },
          { ...allowClean, misses: ["git clean -n"] },
        ],
      },
      "user",
    );
    expect(wrong.ok ? [] : wrong.problems).toEqual([
      'Rule no-curl: it does not match its own example "wget x".',
      'Rule may-clean: it matches "git clean -n", which it should miss.',
    ]);
  });

  it("what is written wrongly is said rule by rule", () => {
    const rules = [
      { id: "a", verdict: "maybe", program: 3, matches: ["x"] },
      { verdict: "ask", paths: ["moon"], matches: [], extra: 1 },
      7,
    ];
    const reading = readRules({ version: 1, rules }, "user");
    expect(reading.ok ? [] : reading.problems).toEqual([
      "Rule a: verdict must be allow, ask or deny.",
      "Rule a: program must be a text or an array of texts.",
      "Rule a: it must name a program, args, effects or paths.",
      "Rule rules[1]: id must be a text.",
      'Rule rules[1]: unknown key "extra".',
      'Rule rules[1]: paths does not know "moon".',
      "Rule rules[1]: it must name a program, args, effects or paths.",
      "Rule rules[1]: matches must hold at least one command it is about.",
      "rules[2] must be an object.",
    ]);
    expect(readRules([], "user").ok).toBe(false);
    expect(readRules({ version: 2, rules: [] }, "user").ok).toBe(false);
    expect(readRules({ version: 1 }, "user").ok).toBe(false);
    expect(readRules({ version: 1, rules: [{ ...noCurl, id: "delete-root" }] }, "user").ok).toBe(false);
  });

  it("the published schema knows every key", () => {
    const { properties } = RULES_SCHEMA.properties.rules.items;
    expect(Object.keys(properties)).toEqual(
      expect.arrayContaining([...Object.keys(noCurl), "lifts", "without", "effects", "paths", "alternative"]),
    );
  });
});

describe("profiles", () => {
  it("off lets everything pass and still tells what it found", () => {
    const verdict = judge("rm -rf /", { ...dev, profile: "off" });
    expect(verdict).toMatchObject({ verdict: "allow", rule: null, severity: "none" });
    expect(verdict.findings[0]).toMatchObject({ rule: "delete-root", liftedBy: "profile off" });
  });

  it("trusting lets light questions pass and keeps the rest", () => {
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
