import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecutionOptions } from "../../src/execution/execution-options.ts";
import { createJudging } from "../../src/execution/judging.ts";
import { waysToAllow } from "../../src/execution/ways-to-allow.ts";

const WORKSPACE = join(homedir(), "work", "place");

function remediesFor(command: string, options: ExecutionOptions = {}) {
  const resolved = createJudging(options);
  const facts = resolved.facts(WORKSPACE);
  const verdict = resolved.judge(command, facts);
  expect(verdict.verdict).toBe("ask");
  return { words: waysToAllow(command, verdict, facts, resolved), facts, resolved };
}

const FILE = "/nonexistent/nacre/policy.json";

describe("the advice on how to allow a command", () => {
  test("names a more trusting profile if that profile allows the command", () => {
    expect(remediesFor("git clean -fd").words).toBe(
      `To allow it, set the option policy: "trusting", or add an allow rule with "lifts": ["git-lose-work"] to ${FILE}, or pass an approve callback that asks a person.`,
    );
  });

  test("names only the profile off if trusting would ask, too", () => {
    const { words } = remediesFor("npm publish");
    expect(words).toContain('policy: "off"');
    expect(words).not.toContain("trusting");
  });

  test("names every rule that has to be lifted", () => {
    const { words, facts, resolved } = remediesFor("sudo npm publish && git clean -fd");
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
  ] as const)("names the options of the entry point %s", (entryPoint, flag) => {
    expect(remediesFor("git clean -fd", { entryPoint }).words).toContain(flag);
  });

  test.each([
    ["library", 'set the option sandbox: "workspace-write"'],
    ["cli", "use: nacre run --sandbox workspace-write"],
    ["mcp", "start the server with: nacre mcp --sandbox workspace-write"],
  ] as const)(
    "names the sandbox first if the sandbox allows the command, in the words of the entry point %s",
    (entryPoint, way) => {
      const resolved = createJudging({ entryPoint });
      const facts = resolved.facts(WORKSPACE, { cwd: WORKSPACE, terminal: true });
      const verdict = resolved.judge("cat", facts);
      expect(verdict.rule).toBe("terminal-input");
      expect(waysToAllow("cat", verdict, facts, resolved)).toMatch(new RegExp(`^To allow it, ${way}, or `));
      // The alternative must not name the option, because it is the same for every entry point.
      expect(verdict.alternative).not.toContain("workspace-write");
    },
  );

  test("names a rule of the user if that rule asks", () => {
    const rules = [{ id: "ask-ls", verdict: "ask", program: "ls", matches: "ls" }] as const;
    expect(remediesFor("ls", { rules }).words).toMatch(
      /^To allow it, .*change the rule ask-ls in the option rules/,
    );
  });
});
