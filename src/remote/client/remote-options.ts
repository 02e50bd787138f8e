// The options of a client of a remote machine.
import { NacreError } from "../../support/errors.ts";
import {
  REMOTE_CONNECT_MAX_MS,
  REMOTE_LINGER_MS,
  REMOTE_PING_MS,
  REMOTE_RETRY_MAX_MS,
  REMOTE_SILENT_MAX_MS,
} from "../../support/limits.ts";

/** The remote machine, and the times of its link. */
export interface RemoteOptions {
  /**
   * `ssh://[user@]host[:port]`, `docker://container`, `podman://container`,
   * `kubernetes://[namespace/]pod[?container=NAME]`, `slurm://JOBID` or `command:["program", …]`; each with an optional
   * `?cwd=DIRECTORY`.
   */
  readonly url: string;
  /** Interval of heartbeats, in both directions. @default 15000 */
  readonly pingMs?: number;
  /** Silence after which a link counts as lost. @default 45000 */
  readonly silentMaxMs?: number;
  /** How long the remote end keeps calls and shells while there is no link. @default 600000 */
  readonly lingerMs?: number;
  /** The longest pause between two attempts to restore a lost link. @default 5000 */
  readonly retryMaxMs?: number;
  /** Timeout for the greeting of the remote end, and again for its answer to the handshake. @default 60000 */
  readonly connectMaxMs?: number;
  /** A Node program for the remote machine, as a path on this machine. @default $NACRE_REMOTE_NODE, else this Node */
  readonly node?: string;
}

export type RemoteTimes = Readonly<
  Required<Pick<RemoteOptions, "pingMs" | "silentMaxMs" | "lingerMs" | "retryMaxMs" | "connectMaxMs">>
>;

/** A missing option falls back to an environment variable, because the CLI has no options for these times. */
export function remoteTimes(options: RemoteOptions): RemoteTimes {
  return {
    pingMs: options.pingMs ?? fromEnvironment("NACRE_REMOTE_PING_MS") ?? REMOTE_PING_MS,
    silentMaxMs: options.silentMaxMs ?? fromEnvironment("NACRE_REMOTE_SILENT_MS") ?? REMOTE_SILENT_MAX_MS,
    lingerMs: options.lingerMs ?? fromEnvironment("NACRE_REMOTE_LINGER_MS") ?? REMOTE_LINGER_MS,
    retryMaxMs: options.retryMaxMs ?? fromEnvironment("NACRE_REMOTE_RETRY_MS") ?? REMOTE_RETRY_MAX_MS,
    connectMaxMs: options.connectMaxMs ?? fromEnvironment("NACRE_REMOTE_CONNECT_MS") ?? REMOTE_CONNECT_MAX_MS,
  };
}

function fromEnvironment(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new NacreError(
    "invalid_input",
    `${name} must be a number of milliseconds; it is ${JSON.stringify(text)}.`,
  );
}
