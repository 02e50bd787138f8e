// The limit on background shells of a scope.
import { NacreError } from "../support/errors.ts";
import { SHELL_LIST_COMMAND_MAX_CHARS } from "../support/limits.ts";

export interface LiveShell {
  readonly id: string;
  readonly command: string;
}

export class ShellQuota {
  readonly #max: number;
  readonly #live: (scope: string) => readonly LiveShell[];
  readonly #counts = new Map<string, number>();

  constructor(max: number, live: (scope: string) => readonly LiveShell[]) {
    this.#max = max;
    this.#live = live;
  }

  /**
   * Call this before the start, so that concurrent starts cannot exceed the limit. Call the returned function when the
   * shell ends.
   */
  take(scope: string): () => void {
    const count = this.#counts.get(scope) ?? 0;
    if (count >= this.#max) {
      const live = this.#live(scope).map(({ id, command }) => `${id} (${excerpt(command)})`);
      throw new NacreError(
        "limit_reached",
        `${count} background shells are running, the most allowed. End one first: ${live.join(", ")}`,
      );
    }
    this.#counts.set(scope, count + 1);
    return () => {
      const left = (this.#counts.get(scope) ?? 1) - 1;
      if (left > 0) this.#counts.set(scope, left);
      else this.#counts.delete(scope);
    };
  }
}

function excerpt(command: string): string {
  const [line = ""] = command.split("\n", 1);
  return line.length > SHELL_LIST_COMMAND_MAX_CHARS
    ? `${line.slice(0, SHELL_LIST_COMMAND_MAX_CHARS - 1)}…`
    : line;
}
