// What a command of the CLI may touch of the process it runs in.
import type { Readable, Writable } from "node:stream";

export interface CliIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly cwd: string;
  /** Whether a person sits at stdin and stderr and can be asked. */
  readonly interactive: boolean;
  /** After this the process ends without waiting for readers of its output: a server's client may have stopped reading. */
  readonly abandonOutput?: () => void;
  /** Where colours are wanted. @default nowhere */
  readonly colours?: { readonly stdout: boolean; readonly stderr: boolean };
  /** How wide the terminal at stdout is; undefined where there is none. */
  readonly columns?: number | undefined;
}
