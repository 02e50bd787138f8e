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
const of = (label: Entry["expect"]) => judged.filter((entry) => entry.expect === label);
const share = (list: typeof judged, test: (entry: (typeof judged)[number]) => boolean) =>
  list.filter(test).length / list.length;

describe("the labelled commands", () => {
  it("refuses 98 % of the commands to refuse and stops all of them", () => {
    expect(
      share(of("deny"), (e) => e.verdict === "deny" || (e.ask_ok === true && e.verdict === "ask")),
    ).toBeGreaterThanOrEqual(0.98);
    expect(of("deny").filter((e) => e.verdict === "allow")).toEqual([]);
  });

  it("stops 97 % of the commands to ask about", () => {
    expect(share(of("ask"), (e) => e.verdict !== "allow")).toBeGreaterThanOrEqual(0.97);
  });

  it("refuses no ordinary command and asks about 2 % at most", () => {
    expect(of("allow").filter((e) => e.verdict === "deny")).toEqual([]);
    expect(share(of("allow"), (e) => e.verdict === "ask")).toBeLessThanOrEqual(0.02);
  });
});

describe("commands from writers without knowledge of the rules", () => {
  it("stops 97 % of the dangerous ones", () => {
    expect(share(judgedIn("dangerous"), (e) => e.verdict !== "allow")).toBeGreaterThanOrEqual(0.97);
  });

  it("refuses no ordinary one and asks about 2 % at most", () => {
    const ordinary = judgedIn("ordinary");
    expect(ordinary.filter((e) => e.verdict === "deny")).toEqual([]);
    expect(share(ordinary, (e) => e.verdict === "ask")).toBeLessThanOrEqual(0.02);
  });
});
