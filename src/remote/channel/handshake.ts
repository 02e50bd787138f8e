// The first lines of a connection, before the frames of the channel:
//
//   relay -> daemon   relay {"cwd": "/home/me"}
//   daemon -> client  nacre-serve 1 BUILD-HASH EPOCH        the greeting; the client skips everything before it
//   client -> daemon  hello {"client": …, "epoch": …, "received": N, …}
//   daemon -> client  welcome {"state": "new" | "resumed" | "lost" | "refused", "received": N, …}
import { attempt } from "../../support/attempt.ts";
import { NacreError } from "../../support/errors.ts";

const PROTOCOL = 1;

export interface Greeting {
  readonly buildHash: string;
  /** A random name of this daemon process. */
  readonly epoch: string;
}

/** The kind of service that a client asks the daemon for. */
export type Purpose =
  | { readonly kind: "kit"; readonly options: Readonly<Record<string, unknown>> }
  | { readonly kind: "mcp"; readonly options: Readonly<Record<string, unknown>> }
  | { readonly kind: "ui"; readonly options: Readonly<Record<string, unknown>> }
  | { readonly kind: "cli" };

export interface ClientHello {
  /** A random name of the client. Stays the same across its connections. */
  readonly client: string;
  /** The epoch of the daemon that the client last reached; null for the first connection. */
  readonly epoch: string | null;
  readonly received: number;
  readonly pingMs: number;
  readonly silentMaxMs: number;
  readonly lingerMs: number;
  readonly purpose: Purpose;
}

export interface Welcome {
  /** "lost": the daemon does not know the client any more. "refused": `error` says why. */
  readonly state: "new" | "resumed" | "lost" | "refused";
  readonly received: number;
  readonly cwd: string;
  readonly pid: number;
  readonly error?: unknown;
}

/** Returns undefined for any other line. Throws if a field is invalid: the channel would lose messages. */
export function readWelcome(line: string): Welcome | undefined {
  const welcome = parseLine<Welcome>("welcome", line);
  if (!welcome) return undefined;
  const { state, received, cwd } = welcome;
  const isKnown = ["new", "resumed", "lost", "refused"].includes(state);
  if (isKnown && Number.isSafeInteger(received) && received >= 0 && typeof cwd === "string") return welcome;
  throw new NacreError("internal", "The remote end broke the protocol: its welcome has a wrong field.");
}

export interface RelayLine {
  readonly cwd: string;
}

export function formatGreeting({ buildHash, epoch }: Greeting): string {
  return `nacre-serve ${PROTOCOL} ${buildHash} ${epoch}\n`;
}

/**
 * Finds the greeting at the end of a line: a shell's startup file may have printed text without a newline before it.
 */
export function parseGreeting(line: string): Greeting | undefined {
  const [, version, buildHash = "", epoch = ""] =
    /nacre-serve (\d+) ([0-9a-f]{8,64}) ([0-9a-f]{8,64})\r?$/.exec(line) ?? [];
  return version === String(PROTOCOL) ? { buildHash, epoch } : undefined;
}

export function formatLine(
  word: "relay" | "hello" | "welcome",
  value: RelayLine | ClientHello | Welcome,
): string {
  return `${word} ${JSON.stringify(value)}\n`;
}

export function parseLine<T>(word: "relay" | "hello" | "welcome", line: string): T | undefined {
  if (!line.startsWith(`${word} `)) return undefined;
  const value = attempt(() => JSON.parse(line.slice(word.length + 1)) as unknown);
  return typeof value === "object" && value !== null ? (value as T) : undefined;
}
