// Looking through all processes takes a while, and those who end shells do it several times each. Whoever asks while
// a look is under way, or is about to begin, gets the next one, which serves all of them: to end fifty shells at once
// costs little more than to end one, whoever asked for which.
import { yieldTurn } from "../support/timing.ts";
import type { Found } from "./find-processes.ts";
import type { StartedShell } from "./started-shell.ts";

export type Look = (shells: readonly StartedShell[]) => Promise<Found>;

interface Batch {
  readonly shells: Map<string, StartedShell>;
  readonly found: Promise<Found>;
}

export class SharedScan {
  readonly #look: Look;
  /** Has not begun yet: one may still join. */
  #next: Batch | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(look: Look) {
    this.#look = look;
  }

  async processesOf(shells: readonly StartedShell[]): Promise<Found> {
    const batch = this.#next ?? this.#plan();
    // Two views of one shell cannot be told apart in one look.
    if (shells.some((shell) => (batch.shells.get(shell.id) ?? shell) !== shell))
      return await this.#look(shells);
    for (const shell of shells) batch.shells.set(shell.id, shell);
    const found = await batch.found;
    return new Map(
      shells.flatMap((shell) => {
        const processes = found.get(shell);
        return processes ? [[shell, processes] as const] : [];
      }),
    );
  }

  #plan(): Batch {
    const shells = new Map<string, StartedShell>();
    const found = this.#last.then(async () => {
      // Others who want to know at the same time have not spoken yet.
      await yieldTurn();
      this.#next = undefined;
      return await this.#look([...shells.values()]);
    });
    this.#last = found.catch(() => {});
    this.#next = { shells, found };
    return this.#next;
  }
}
