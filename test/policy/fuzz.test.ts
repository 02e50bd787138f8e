import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judge } from "../../src/policy/judge.ts";
import { RULES } from "../../src/policy/rules.ts";
import { casesOf } from "../fixtures/fuzz.ts";
import { dev } from "./dev.ts";

const runs = casesOf(20_000);

const examples = RULES.flatMap(({ matches, misses }) => [...matches, ...misses]);
const labeled = readFileSync(new URL("./corpus/commands.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => String(JSON.parse(line).command));
const own = ["deny", "ask", "allow"].flatMap((name) =>
  readFileSync(new URL(`./commands/${name}.txt`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("## "))
    .map((line) => line.replaceAll("⏎", "\n")),
);
const commands = [...new Set([...examples, ...own, ...labeled])];
const denied = commands.filter((command) => judge(command, dev).verdict === "deny");
/**
 * Commands without quotes, substitutions or here-documents. In them, every blank separates words, and any letter can be
 * quoted.
 */
const plain = denied.filter((command) => /^[\w\s/.*~=:;&|>-]+$/.test(command) && !/\n/.test(command));

describe("fuzzed commands", () => {
  it("every mutation gets a verdict", () => {
    const mutation = fc.record({
      command: fc.constantFrom(...commands),
      at: fc.nat(400),
      drop: fc.nat(4),
      insert: fc.oneof(
        fc.string({ maxLength: 6 }),
        fc.constantFrom("$(", "`", "'", '"', "{", "}", "((", "<<", "\\", "\n", ";", "|", "&"),
      ),
    });
    fc.assert(
      fc.property(mutation, ({ command, at, drop, insert }) => {
        const mutant = command.slice(0, at) + insert + command.slice(at + drop);
        expect(["allow", "ask", "deny"]).toContain(judge(mutant, dev).verdict);
      }),
      { numRuns: runs },
    );
  });

  it("a denied command stays stopped after adding white space and comments that bash ignores", () => {
    const blank = fc.constantFrom(" ", "  ", "\t", " \\\n ");
    fc.assert(
      fc.property(
        fc.constantFrom(...plain),
        blank,
        fc.constantFrom("", " # ok", "\n# ok", "\n", " ;"),
        (command, gap, end) => {
          const mutant = command.replaceAll(" ", gap) + (/&$/.test(command) && end === " ;" ? "" : end);
          expect(judge(mutant, dev).verdict, mutant).not.toBe("allow");
        },
      ),
      { numRuns: runs },
    );
  });

  it("a denied command stays stopped after changing its quotes", () => {
    // Exclude coproc and time: if the next word is quoted, bash no longer reads it as a keyword or an option.
    const words = plain.filter(
      (command) => /^[a-z][\w./ -]*$/.test(command) && !/^(coproc|time)\b/.test(command),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...words),
        fc.nat(200),
        fc.constantFrom("\\", "''", '""', "quoted"),
        (command, at, kind) => {
          const place = at % command.length;
          const letter = command[place] ?? "";
          if (!/[\w/.-]/.test(letter)) return;
          const middle = kind === "quoted" ? `'${letter}'` : kind + letter;
          const mutant = command.slice(0, place) + middle + command.slice(place + 1);
          expect(judge(mutant, dev).verdict, mutant).toBe("deny");
        },
      ),
      { numRuns: runs },
    );
  });
});
