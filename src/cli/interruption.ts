// Ctrl-C and other signals that end nacre while a command runs. For a command line of a remote client, they arrive as
// messages instead.
import type { CliIo } from "./cli-io.ts";
import { signalExitCode } from "./exit-code.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export class Interruption implements Disposable {
  readonly #remove: () => void;
  #first: NodeJS.Signals | undefined;

  /** `onSignal` is called for every signal; `count` starts at 1. */
  constructor(
    { signals }: Pick<CliIo, "signals">,
    onSignal: (signal: NodeJS.Signals, count: number) => void,
  ) {
    let count = 0;
    const listener = (signal: NodeJS.Signals) => {
      this.#first ??= signal;
      onSignal(signal, ++count);
    };
    if (signals) {
      signals.on("signal", listener);
      this.#remove = () => void signals.off("signal", listener);
      return;
    }
    // Node passes the name of the signal.
    for (const signal of SIGNALS) process.on(signal, listener);
    this.#remove = () => {
      for (const signal of SIGNALS) process.off(signal, listener);
    };
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
    this.#remove();
  }
}
