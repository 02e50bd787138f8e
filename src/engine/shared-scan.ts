// Shares scans of /proc. A scan takes a while, and a kill needs several. Callers that ask during a scan, or just
// before one, all get the result of the next scan. So ending fifty shells at once costs little more than ending one.
import { yieldTurn } from "../support/timing.ts";
import type { Found } from "./find-processes.ts";
import type { StartedShell } from "./started-shell.ts";

export type Scan = (shells: readonly StartedShell[]) => Promise<Found>;

interface Batch {
  readonly shells: Map<string, StartedShell>;
  readonly found: Promise<Found>;
}

export class SharedScan {
  readonly #scan: Scan;
  /** The scan that has not started yet: callers can still join it. */
  #next: Batch | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  async processesOf(shells: readonly StartedShell[]): Promise<Found> {
    const batch = this.#next ?? this.#plan();
    // If the batch has another StartedShell object for the same shell, start a new batch: one scan can serve only one
    // object per shell.
    if (shells.some((shell) => (batch.shells.get(shell.id) ?? shell) !== shell))
      return await this.#scan(shells);
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
      // Let callers that ask at the same time join.
      await yieldTurn();
      this.#next = undefined;
      return await this.#scan([...shells.values()]);
    });
    this.#last = found.catch(() => {});
    this.#next = { shells, found };
    return this.#next;
  }
}
