// The base class of the errors that callers of nacre get, and the closed set of their codes.
// How a command ended is a return value (shell/outcome.ts), not an exception. nacre throws only for caller mistakes and
// system failures.
import { isError, recognizeCopies } from "./realms.ts";

export const ERROR_CODES = [
  "invalid_input",
  "unknown_tool",
  "policy_denied",
  "approval_refused",
  "approval_pending",
  "approval_expired",
  "shell_not_found",
  "exit_nonzero",
  "no_match",
  "ambiguous_match",
  "stale_file",
  "secret_prompt",
  "timed_out",
  "aborted",
  "spawn_failed",
  "limit_reached",
  "conflict",
  "swept",
  "unavailable",
  "remote_lost",
  "internal",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Why the policy or a person refused a command. */
export interface RefusalDetails {
  readonly rule: string;
  readonly reason: string;
  /** Empty if the rule suggests none. */
  readonly alternative: string;
  /** The directory in which the command would have run. */
  readonly cwd: string;
  /** The part of the command that the rule is about, in UTF-16 offsets; null for the whole command. */
  readonly span: { readonly start: number; readonly end: number } | null;
  /** The request that a person can still answer, or could have answered: `nacre approve ID`. */
  readonly approval_id?: string;
}

/**
 * `instanceof NacreError` also accepts the errors of another copy of this package. A refusal (`policy_denied`,
 * `approval_refused`, `approval_pending`, `approval_expired`) also carries its details.
 */
export class NacreError extends Error implements Partial<RefusalDetails> {
  override readonly name = "NacreError";
  readonly code: ErrorCode;
  declare readonly rule?: string;
  declare readonly reason?: string;
  declare readonly alternative?: string;
  declare readonly cwd?: string;
  declare readonly span?: RefusalDetails["span"];
  declare readonly approval_id?: string;

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }

  /**
   * Adds the message, which JSON.stringify would leave out because it is not enumerable. Omits the cause, which can be
   * anything.
   */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, code, message, cause: _, ...data } = this;
    return { name, code, message, ...data };
  }
}

recognizeCopies(NacreError, "nacre.NacreError");

/** Returns the message of any thrown value. The message is never empty, and this function never throws. */
export function messageOf(thrown: unknown): string {
  try {
    if (!isError(thrown)) return String(thrown) || typeof thrown;
    return thrown.message || thrown.name;
  } catch {
    // String() throws for an object without a prototype, and a `message` getter can throw.
    return "something that cannot be described was thrown";
  }
}
