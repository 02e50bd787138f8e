import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { judge } from "../../src/policy/judge.ts";
import { dev } from "./dev.ts";

interface Entry {
  readonly command: string;
  readonly expect: "allow" | "ask" | "deny";
  readonly ask_ok?: boolean;
}

const corpus = fileURLToPath(new URL("../../../shared/corpus/commands.jsonl", import.meta.url));
const isThere = existsSync(corpus);
const entries: Entry[] = isThere
  ? readFileSync(corpus, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
  : [];
const judged = entries.map((entry) => ({ ...entry, verdict: judge(entry.command, dev).verdict }));
const of = (label: Entry["expect"]) => judged.filter((entry) => entry.expect === label);
const share = (list: typeof judged, test: (entry: (typeof judged)[number]) => boolean) =>
  list.filter(test).length / list.length;

describe.skipIf(!isThere)("the labelled commands (skipped where ../shared/corpus is absent)", () => {
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
