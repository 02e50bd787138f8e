// The exit codes of the CLI itself. `nacre run` also exits with the code of its command.
import { constants } from "node:os";
import type { ErrorCode } from "../support/errors.ts";

export const EXIT = {
  ok: 0,
  /** nacre failed; the reason is on stderr. */
  failed: 1,
  /** Usage error. */
  usage: 2,
  /** The policy requires approval, and no person approved the command. */
  ask: 3,
  /** The policy denies the command. */
  deny: 4,
  /** The command timed out; the code of timeout(1). */
  timedOut: 124,
  /** The reader of the output closed the pipe. */
  brokenPipe: 141,
} as const;

/** The exit code for a failure or a refusal. */
export function failureExitCode(code: ErrorCode | undefined): number {
  if (code === "policy_denied") return EXIT.deny;
  return code?.startsWith("approval_") ? EXIT.ask : EXIT.failed;
}

/** The exit code that shells report for a process that was ended by a signal. */
export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
