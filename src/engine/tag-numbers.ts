// Gives every shell of a host its own number, for as long as one of the shell's processes may be alive.

import { NacreError } from "../support/errors.ts";
import { allPids, forEachPid, tagLimits } from "./process-table.ts";
import { SHELL_NUMBERS, type TagSpace } from "./tag.ts";

export class TagNumbers {
  readonly #space: TagSpace;
  readonly #taken = new Set<number>();
  #inUse: ReadonlySet<number> = new Set();
  #next = 0;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(space: TagSpace) {
    this.#space = space;
  }

  /** Serves one call at a time, so that no caller gets a number while another call scans for the numbers in use. */
  take(): Promise<number> {
    const taken = this.#queue.then(() => this.#take());
    this.#queue = taken.catch(() => undefined);
    return taken;
  }

  async #take(): Promise<number> {
    for (let tries = 0; tries < SHELL_NUMBERS; tries++) {
      const number = this.#next;
      this.#next = (this.#next + 1) % SHELL_NUMBERS;
      // All numbers have been used once. Find those still in use: a leftover of an ended shell must not become part of
      // a new one.
      if (this.#next === 0) this.#inUse = await this.#numbersInUse();
      if (this.#taken.has(number) || this.#inUse.has(number)) continue;
      this.#taken.add(number);
      return number;
    }
    throw new NacreError(
      "limit_reached",
      `All ${SHELL_NUMBERS} shells that this host can have at a time are alive. End some first.`,
    );
  }

  release(number: number): void {
    this.#taken.delete(number);
  }

  async #numbersInUse(): Promise<ReadonlySet<number>> {
    const numbers = new Set<number>();
    await forEachPid(allPids(), (pid) => {
      const number = tagNumberOf(pid, this.#space);
      if (number !== undefined) numbers.add(number);
    });
    return numbers;
  }
}

/** The number of the shell that a process belongs to, if it is a shell of this host. */
export function tagNumberOf(pid: number, space: TagSpace): number | undefined {
  const limits = tagLimits(pid);
  return limits && space.numberOf(limits);
}
