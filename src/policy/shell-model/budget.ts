// Limits the work of one judgment, in steps and in nesting depth. Unlike a time limit, a limit on steps gives the
// same verdict on every machine. If the budget runs out, the walk ends, and judge.ts turns that into `ask`.

import {
  POLICY_DEPTH_MAX_COUNT,
  POLICY_STEPS_MAX_COUNT,
  POLICY_STEPS_MIN_COUNT,
  POLICY_STEPS_PER_CHAR_COUNT,
} from "../../support/limits.ts";

export class BudgetSpent extends Error {
  override readonly name = "BudgetSpent";
}

/** The minimum cost of a command. */
const COMMAND_STEPS = 3;

export class Budget {
  #steps: number;
  #depth = 0;

  /**
   * A short text gets fewer steps: a short text that needs many steps is hostile and must not block the host process.
   */
  constructor(textChars: number) {
    const earned = POLICY_STEPS_MIN_COUNT + textChars * POLICY_STEPS_PER_CHAR_COUNT;
    this.#steps = Math.min(POLICY_STEPS_MAX_COUNT, earned);
  }

  spend(steps = 1): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new BudgetSpent("too many steps");
  }

  /** Throws at once if the remaining steps do not suffice for this many commands. */
  expect(commands: number): void {
    if (this.#steps < commands * COMMAND_STEPS) throw new BudgetSpent("too many commands");
  }

  /** Runs the work one nesting level deeper. */
  deeper<T>(work: () => T): T {
    this.#depth += 1;
    if (this.#depth > POLICY_DEPTH_MAX_COUNT) throw new BudgetSpent("too deep");
    const result = work();
    this.#depth -= 1;
    return result;
  }
}
