// Ctrl-C, and other requests to end while a command runs.
import { signalExitCode } from "./exit-code.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export class Interruption implements Disposable {
  readonly #listeners: readonly (readonly [NodeJS.Signals, () => void])[];
  #first: NodeJS.Signals | undefined;

  /** Called for every signal; `count` says the how many-th it is. */
  constructor(onSignal: (signal: NodeJS.Signals, count: number) => void) {
    let count = 0;
    this.#listeners = SIGNALS.map((signal) => {
      const listener = () => {
        this.#first ??= signal;
        onSignal(signal, ++count);
      };
      process.on(signal, listener);
      return [signal, listener] as const;
    });
  }

  /** What to say of it: nothing to a person who has pressed Ctrl-C. */
  get remark(): string | undefined {
    return this.#first === undefined || this.#first === "SIGINT"
      ? undefined
      : `ended by ${this.#first}, with everything it started`;
  }

  /** What to exit with where the signal, and not the command, made the end. */
  get exitCode(): number | undefined {
    return this.#first && signalExitCode(this.#first);
  }

  [Symbol.dispose](): void {
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }
}
