import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecutionOptions } from "../../src/execution/execution-options.ts";
import { createJudging } from "../../src/execution/judging.ts";
import { waysToAllow } from "../../src/execution/ways-to-allow.ts";

const WORKSPACE = join(homedir(), "work", "place");

function waysFor(command: string, options: ExecutionOptions = {}) {
  const resolved = createJudging(options);
  const facts = resolved.facts(WORKSPACE);
  const verdict = resolved.judge(command, facts);
  expect(verdict.verdict).toBe("ask");
  return { words: waysToAllow(command, verdict, facts, resolved), facts, resolved };
}

const FILE = "/nonexistent/nacre/policy.json";

describe("what would allow a command", () => {
  test("is a more trusting profile where that is enough", () => {
    expect(waysFor("git clean -fd").words).toBe(
      `To allow it, set the option policy: "trusting", or add an allow rule with "lifts": ["git-lose-work"] to ${FILE}, or pass an approve callback that asks a person.`,
    );
  });

  test("is no profile but off where trusting would ask, too", () => {
    const { words } = waysFor("npm publish");
    expect(words).toContain('policy: "off"');
    expect(words).not.toContain("trusting");
  });

  test("names every rule that has to be lifted", () => {
    const { words, facts, resolved } = waysFor("sudo npm publish && git clean -fd");
    const [, list = ""] = /"lifts": (\[.*?\])/.exec(words) ?? [];
    const lifts = JSON.parse(list);
    expect(lifts.length).toBeGreaterThan(2);
    const rule = { id: "mine", verdict: "allow", program: "*", lifts, matches: "ls" } as const;
    const own = createJudging({ rules: [rule] }).facts(WORKSPACE);
    expect(resolved.judge("sudo npm publish && git clean -fd", { ...facts, ...own }).verdict).toBe("allow");
  });

  test.each([
    ["cli", "nacre run --policy trusting"],
    ["mcp", "start the server with: nacre mcp --policy trusting"],
  ] as const)("is described in the terms of the entry point %s", (entryPoint, flag) => {
    expect(waysFor("git clean -fd", { entryPoint }).words).toContain(flag);
  });

  test("is a change of the rule where a person's own rule asks", () => {
    const rules = [{ id: "ask-ls", verdict: "ask", program: "ls", matches: "ls" }] as const;
    expect(waysFor("ls", { rules }).words).toMatch(
      /^To allow it, .*change the rule ask-ls in the option rules/,
    );
  });
});
