// Remembers the verdicts on recent commands, because agents repeat commands, and judging a command takes longer than
// running most builtins. The policy is pure: its verdict depends only on the text, the facts and the answers about
// links. So an earlier verdict is reused only if the text and all facts are equal, and every link that the policy
// asked about still has the same target.
import { isDeepStrictEqual } from "node:util";
import type { PolicyFacts, Verdict } from "../policy/verdict.ts";
import { VERDICT_CACHE_COMMAND_MAX_CHARS, VERDICT_CACHE_MAX_COUNT } from "../support/limits.ts";
import { DiskLinks } from "./disk-links.ts";

type Judge = (command: string, facts: PolicyFacts) => Verdict;

interface Judgment {
  readonly facts: Omit<PolicyFacts, "links">;
  readonly links: DiskLinks;
  readonly verdict: Verdict;
}

export class VerdictCache {
  readonly #judge: Judge;
  /** The least recently used command comes first. */
  readonly #judgments = new Map<string, Judgment>();

  /** `judge` must be pure. */
  constructor(judge: Judge) {
    this.#judge = judge;
  }

  /** Returns the verdict, and records every link that it depends on in `all.links`. */
  verdict(command: string, all: PolicyFacts): Verdict {
    const { links, ...facts } = all;
    // Only DiskLinks can repeat its lookups, so other links are not cached.
    if (!(links instanceof DiskLinks) || command.length > VERDICT_CACHE_COMMAND_MAX_CHARS)
      return this.#judge(command, all);
    const known = this.#judgments.get(command);
    const isValid = known && isDeepStrictEqual(known.facts, facts) && links.hasSameAnswers(known.links);
    const judgment = isValid ? known : { facts, links, verdict: this.#judge(command, all) };
    this.#judgments.delete(command);
    this.#judgments.set(command, judgment);
    if (this.#judgments.size > VERDICT_CACHE_MAX_COUNT) this.#removeOldest();
    return judgment.verdict;
  }

  #removeOldest(): void {
    const [oldest] = this.#judgments.keys();
    if (oldest !== undefined) this.#judgments.delete(oldest);
  }
}
