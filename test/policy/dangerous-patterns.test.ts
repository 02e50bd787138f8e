import { expect, test } from "vitest";
import { judge } from "../../src/policy/judge.ts";
import { RULES } from "../../src/policy/rules.ts";

/** Returns the text of dangerous-patterns.ts: the id of each deny rule, and its reason for an example. */
function patterns(): string {
  const entries = RULES.filter(({ verdict }) => verdict === "deny").map(({ id, matches }) => {
    const facts = { home: "/home/dev", cwd: "/home/dev/proj" };
    const findings = [
      ...matches.flatMap((example) => judge(example, facts).findings),
      // Only an example in another directory triggers delete-above-workspace.
      ...judge("rm -rf /srv/team", { ...facts, cwd: "/srv/team/proj" }).findings,
    ];
    const reason = findings.find(({ rule }) => rule === id)?.reason;
    expect([id, typeof reason]).toEqual([id, "string"]);
    return `  {\n    id: ${JSON.stringify(id)},\n    reason: ${JSON.stringify(reason)},\n  },\n`;
  });
  return `// What the policy always denies: the id of each rule, and its reason for an example. This list is a separate file so
// that a host can read it without loading the policy. A test generates it:
//   npx vitest run test/policy/dangerous-patterns.test.ts -u

export const DENY_RULES = [
${entries.join("")}] as const;
`;
}

test("the list of denied patterns matches the deny rules", async () => {
  await expect(patterns()).toMatchFileSnapshot("../../src/execution/dangerous-patterns.ts");
});
