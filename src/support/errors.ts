// The one error class of the house, and the closed set of codes a failed call may carry.
// Endings of commands are values (shell/outcome.ts); throwing is for mistakes and broken surroundings.
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

/** `instanceof NacreError` is true for an error of another copy of this package, too. */
export class NacreError extends Error {
  override readonly name = "NacreError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

recognizeCopies(NacreError, "nacre.NacreError");

/** The words of anything that was thrown, whatever it was. */
export function messageOf(thrown: unknown): string {
  return isError(thrown) ? thrown.message : String(thrown);
}
