// Why a shell ended: decided once, from its record and whether its shim is alive. Pure.
import { constants } from "node:os";
import type { Cause, EndRecord, ExitRecord } from "../engine/end-record.ts";

export type Outcome =
  | { readonly kind: "exited"; readonly code: number }
  /**
   * Inferred from the exit code: bash reports a death by signal n as 128 + n, but a command can also exit with this
   * code.
   */
  | { readonly kind: "signaled"; readonly signal: string; readonly code: number }
  | { readonly kind: "timedOut"; readonly afterMs: number; readonly code: number }
  | { readonly kind: "killed"; readonly by: string; readonly code: number }
  | { readonly kind: "aborted"; readonly code: number }
  | { readonly kind: "failedToStart"; readonly reason: string }
  /** The shell is gone and left no record. This never counts as a success, and there is no exit code. */
  | { readonly kind: "lost"; readonly reason: string };

export interface OutcomeFacts {
  readonly record: EndRecord;
  readonly shimAlive: boolean;
  /** The text of the fault file: why bash could not begin the command. */
  readonly fault: string | undefined;
  /** Why nacre cannot find the shell's processes. */
  readonly unseen?: string | undefined;
}

/** undefined while the shell runs. */
export function decideOutcome({ record, shimAlive, fault, unseen }: OutcomeFacts): Outcome | undefined {
  const { exit, cause } = record;
  if (exit === "pending") {
    if (shimAlive) return undefined;
    if (cause?.kind === "never-started") return neverStarted();
    return { kind: "lost", reason: unseen ?? "its shim ended without leaving an exit record" };
  }
  if (exit === "corrupt") {
    return shimAlive ? undefined : { kind: "lost", reason: "its exit record cannot be read" };
  }
  const reason = fault === undefined ? undefined : FAULTS[fault];
  if (reason !== undefined) return { kind: "failedToStart", reason };
  return fromCause(cause, exit) ?? fromCode(exit.code);
}

const FAULTS: Readonly<Record<string, string>> = {
  cwd: "the working directory was gone when it started",
  limits: "its limits could not be set",
  sandbox: "its sandbox could not be set up; what bwrap said is in the output",
};

function fromCause(cause: Cause | undefined, { code }: ExitRecord): Outcome | undefined {
  switch (cause?.kind) {
    case undefined:
      return undefined;
    case "killed":
      return { kind: "killed", by: cause.detail, code };
    case "host-ended":
      return { kind: "killed", by: "the end of its host", code };
    case "never-started":
      return neverStarted();
    case "terminated":
      // A command that handles TERM and exits by itself was not killed.
      return code === 128 + constants.signals.SIGTERM
        ? { kind: "killed", by: cause.detail, code }
        : undefined;
    case "timeout":
      return { kind: "timedOut", afterMs: Number(cause.detail) || 0, code };
    case "aborted":
      return { kind: "aborted", code };
  }
}

function neverStarted(): Outcome {
  return {
    kind: "failedToStart",
    reason: "never started: its host was killed before the command could begin",
  };
}

/** The outcome for an exit code without a cause. */
export function fromCode(code: number): Outcome {
  const signal = signalOf(code);
  return signal ? { kind: "signaled", signal, code } : { kind: "exited", code };
}

/** The signal of an exit code above 128. */
export function signalOf(code: number): string | undefined {
  const number = code - 128;
  if (number < 1 || number > 64) return undefined;
  const named = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  // Node has no names for real-time signals.
  return named ?? (number >= 34 ? `SIGRTMIN+${number - 34}` : undefined);
}

/** The exit code, if known. */
export function codeOf(outcome: Outcome): number | null {
  return outcome.kind === "lost" || outcome.kind === "failedToStart" ? null : outcome.code;
}

/** One line for a person or a model. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case "exited":
      return `exited with code ${outcome.code}`;
    case "signaled":
      return `ended by ${outcome.signal} (exit code ${outcome.code})`;
    case "timedOut":
      return `timed out after ${outcome.afterMs}ms`;
    case "killed":
      return `killed by ${outcome.by}`;
    case "aborted":
      return "ended because the call was cancelled";
    case "failedToStart":
      return `could not be started: ${outcome.reason}`;
    case "lost":
      return `lost: ${outcome.reason}`;
  }
}
