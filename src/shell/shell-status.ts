// The status of a shell: derived from its outcome, never stored. Pure.
import type { Outcome } from "./outcome.ts";

export const ShellStatus = Object.freeze({
  PENDING: "pending",
  RUNNING: "running",
  COMPLETED: "completed",
  FAILED: "failed",
  KILLED: "killed",
  TIMEOUT: "timeout",
  LOST: "lost",
} as const);
export type ShellStatus = (typeof ShellStatus)[keyof typeof ShellStatus];

export const SHELL_STATUSES: readonly ShellStatus[] = Object.freeze(Object.values(ShellStatus));

/** The possible next statuses: pending, running, then exactly one ending. */
export const SHELL_TRANSITIONS: Readonly<Record<ShellStatus, readonly ShellStatus[]>> = {
  pending: ["running", "failed", "killed", "lost"],
  running: ["completed", "failed", "killed", "timeout", "lost"],
  completed: [],
  failed: [],
  killed: [],
  timeout: [],
  lost: [],
};

export function statusOf(outcome: Outcome | undefined): ShellStatus {
  switch (outcome?.kind) {
    case undefined:
      return "running";
    case "exited":
      return outcome.code === 0 ? "completed" : "failed";
    case "signaled":
    case "failedToStart":
      return "failed";
    case "timedOut":
      return "timeout";
    case "killed":
    case "aborted":
      return "killed";
    case "lost":
      return "lost";
  }
}
