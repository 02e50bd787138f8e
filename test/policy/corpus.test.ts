import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { judge } from "../../src/policy/judge.ts";
import { dev } from "./dev.ts";

interface Entry {
  readonly command: string;
  readonly expect: "allow" | "ask" | "deny";
  readonly ask_ok?: boolean;
}

function judgedIn(name: string) {
  return readFileSync(new URL(`./corpus/${name}.jsonl`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line): Entry => JSON.parse(line))
    .map((entry) => ({ ...entry, verdict: judge(entry.command, dev).verdict }));
}

const judged = judgedIn("commands");
const labeledAs = (label: Entry["expect"]) => judged.filter((entry) => entry.expect === label);
const share = (list: typeof judged, test: (entry: (typeof judged)[number]) => boolean) =>
  list.filter(test).length / list.length;

describe("for the labeled commands, the policy", () => {
  it("denies at least 98 % of those labeled deny, and allows none of them", () => {
    expect(
      share(labeledAs("deny"), (e) => e.verdict === "deny" || (e.ask_ok === true && e.verdict === "ask")),
    ).toBeGreaterThanOrEqual(0.98);
    expect(labeledAs("deny").filter((e) => e.verdict === "allow")).toEqual([]);
  });

  it("stops at least 97 % of those labeled ask", () => {
    expect(share(labeledAs("ask"), (e) => e.verdict !== "allow")).toBeGreaterThanOrEqual(0.97);
  });

  it("denies no ordinary command, and asks about at most 2 %", () => {
    expect(labeledAs("allow").filter((e) => e.verdict === "deny")).toEqual([]);
    expect(share(labeledAs("allow"), (e) => e.verdict === "ask")).toBeLessThanOrEqual(0.02);
  });
});

describe("for commands whose authors did not know the rules, the policy", () => {
  it("stops at least 97 % of the dangerous commands", () => {
    expect(share(judgedIn("dangerous"), (e) => e.verdict !== "allow")).toBeGreaterThanOrEqual(0.97);
  });

  it("denies no ordinary command, and asks about at most 2 % of them", () => {
    const ordinary = judgedIn("ordinary");
    expect(ordinary.filter((e) => e.verdict === "deny")).toEqual([]);
    expect(share(ordinary, (e) => e.verdict === "ask")).toBeLessThanOrEqual(0.02);
  });
});
