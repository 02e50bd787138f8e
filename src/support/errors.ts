// The only error class of nacre, and the closed set of codes that a failed call can carry.
// The end of a command is a value (shell/outcome.ts). nacre throws for mistakes of a caller and failures of the system.
import { isError, recognizeCopies } from "./realms.ts";

export const ERROR_CODES = [
  "invalid_input",
  "unknown_tool",
  "policy_denied",
  "approval_refused",
  "shell_not_found",
  "exit_nonzero",
  "timed_out",
  "aborted",
  "spawn_failed",
  "limit_reached",
  "internal",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** `instanceof NacreError` also accepts the errors of another copy of this package. */
export class NacreError extends Error {
  override readonly name = "NacreError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

recognizeCopies(NacreError, "nacre.NacreError");

/** The message of anything that was thrown. Never empty, never throws. */
export function messageOf(thrown: unknown): string {
  try {
    if (!isError(thrown)) return String(thrown) || typeof thrown;
    return thrown.message || thrown.name;
  } catch {
    // An object without a prototype has no string form, and a message can be a getter.
    return "something that cannot be described was thrown";
  }
}
