// The parts of the process that a CLI command may use.
import type { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";

export interface CliIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly cwd: string;
  /** Whether a person at stdin and stderr can answer questions. */
  readonly interactive: boolean;
  /** Makes the process exit without waiting for pending writes. An MCP client may have stopped reading. */
  readonly abandonOutput?: () => void;
  /** @default no colors */
  readonly colors?: { readonly stdout: boolean; readonly stderr: boolean };
  /** The width of the terminal at stdout; undefined without a terminal. */
  readonly columns?: number | undefined;
  /** Emits "signal" with the name of each signal. @default the signals of this process */
  readonly signals?: EventEmitter;
  /**
   * For a command of nacre that runs in the daemon and does not listen to `signals`: aborts when an OS signal ends the
   * command. Outside the daemon, the OS signal itself ends the process. A command that waits must pass this AbortSignal
   * to its wait. Otherwise the wait continues in the daemon.
   */
  readonly stopped?: AbortSignal;
}
