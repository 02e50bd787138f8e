import { describe, expect, it } from "vitest";
import { judge } from "../../src/policy/judge.ts";
import { RULES } from "../../src/policy/rules.ts";
import { dev } from "./dev.ts";

describe("every rule", () => {
  for (const { id, matches, misses, profile } of RULES) {
    const facts = { ...dev, profile: profile ?? ("standard" as const) };
    const rulesFor = (command: string) => judge(command, facts).findings.map(({ rule }) => rule);
    it(`${id} matches every example in \`matches\` and no example in \`misses\``, () => {
      for (const command of matches) expect(rulesFor(command), command).toContain(id);
      for (const command of misses) expect(rulesFor(command), command).not.toContain(id);
    });
  }

  it("has a unique id, an alternative, and examples that the rule must not match", () => {
    const ids = RULES.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { alternative, misses } of RULES) {
      expect(alternative).not.toBe("");
      expect(misses.length).toBeGreaterThan(0);
    }
  });

  it("gives a reason that ends with a period", () => {
    for (const { matches, profile } of RULES) {
      for (const command of matches) {
        for (const { reason } of judge(command, { ...dev, profile: profile ?? "standard" }).findings) {
          expect(reason).toMatch(/^\S[\s\S]*\.$/);
        }
      }
    }
  });
});
