// Ctrl-C and other signals that end nacre while a command runs.
import { signalExitCode } from "./exit-code.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export class Interruption implements Disposable {
  readonly #listeners: readonly (readonly [NodeJS.Signals, () => void])[];
  #first: NodeJS.Signals | undefined;

  /** `onSignal` is called for every signal; `count` starts at 1. */
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

  /** A remark for the user; none after Ctrl-C. */
  get remark(): string | undefined {
    return this.#first === undefined || this.#first === "SIGINT"
      ? undefined
      : `ended by ${this.#first}, with everything it started`;
  }

  /** The exit code if the signal ended the command. */
  get exitCode(): number | undefined {
    return this.#first && signalExitCode(this.#first);
  }

  [Symbol.dispose](): void {
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }
}
