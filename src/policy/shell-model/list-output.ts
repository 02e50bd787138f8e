// The combined output of a list of commands.

import { POLICY_FOLDED_MAX_CHARS } from "../../support/limits.ts";
import { type DataOrigin, type Flow, flowOf, joinOrigins, NO_ORIGINS } from "./flow.ts";
import { UNKNOWN } from "./marks.ts";

export class ListOutput {
  readonly #count: number;
  #text: string | null = "";
  #origins: readonly DataOrigin[] = NO_ORIGINS;
  #only: Flow | null = null;

  /** @param count The number of commands in the list. */
  constructor(count: number) {
    this.#count = count;
  }

  add(flow: Flow): void {
    if (flow.alternatives && this.#count === 1) this.#only = flow;
    // If the output of some commands is unknown, keep the known output of the others:
    // `(crontab -l; echo "…") | crontab -`.
    const piece = flow.text ?? (this.#count > 1 ? `${UNKNOWN}\n` : null);
    this.#text = this.#text === null || piece === null ? null : this.#text + piece;
    if (this.#text !== null && this.#text.length > POLICY_FOLDED_MAX_CHARS) this.#text = null;
    this.#origins = joinOrigins(this.#origins, flow.origins);
  }

  flow(): Flow {
    return this.#only ?? flowOf(this.#text, this.#origins);
  }
}
