// What the exit codes of the CLI mean, besides those of commands that pass through.
import { constants } from "node:os";
import type { ErrorCode } from "../support/errors.ts";

export const EXIT = {
  ok: 0,
  /** nacre itself could not do it; the reason is on stderr. */
  failed: 1,
  /** The words on the command line make no sense. */
  usage: 2,
  /** The policy wants a person to be asked, and no one approved. */
  ask: 3,
  /** The policy says no. */
  deny: 4,
  /** The command's time was over; as timeout(1) says it. */
  timedOut: 124,
  /** The reader of the output has gone away. */
  brokenPipe: 141,
} as const;

/** Of something that could not be done, or was not allowed. */
export function failureExitCode(code: ErrorCode | undefined): number {
  if (code === "policy_denied") return EXIT.deny;
  return code === "approval_refused" ? EXIT.ask : EXIT.failed;
}

/** As a shell tells the death by a signal. */
export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
