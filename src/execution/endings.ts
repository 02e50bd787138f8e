// Turns the end of a command into text and metadata, for both dialects, BashOutput and the CLI. Only this file does
// that. The phrase for an outcome ("killed by KillShell") comes from describeOutcome in shell/outcome.ts, because
// shell/ and session/ use it too.
//
//   endedResult      the command ran: its output, and the error if it failed
//   notRunResult     the command did not run: refused, not bash, or not started
//   endingMetadata   the metadata keys that depend on the outcome
//   statusLine       the first line of BashOutput

import { codeOf, describeOutcome, type Outcome } from "../shell/outcome.ts";
import { statusOf } from "../shell/shell-status.ts";
import { type ErrorCode, messageOf, NacreError } from "../support/errors.ts";
import { ToolResult } from "../tool/result.ts";
import type { Leftover } from "./leftovers.ts";
import { isRefusalCode, type RefusalMetadata, refusalMetadata } from "./refusal.ts";
import { BashSyntaxError } from "./syntax-check.ts";

/** A set of tools for models. */
export type Dialect = "shells" | "modes";

const CODES: Readonly<Record<Outcome["kind"], ErrorCode>> = {
  exited: "exit_nonzero",
  signaled: "exit_nonzero",
  timedOut: "timed_out",
  aborted: "aborted",
  killed: "aborted",
  failedToStart: "spawn_failed",
  lost: "internal",
};

/** The metadata of a command in either dialect. */
export interface CommandMetadata extends RefusalMetadata {
  readonly command: string;
  readonly exit_code: number | null;
  readonly duration_ms: number;
  readonly truncated: boolean;
  readonly signal?: string;
  readonly timeout_ms?: number;
  readonly dry_run?: boolean;
  readonly bash_id?: string;
  readonly output_file?: string;
  readonly leftovers?: readonly Leftover[];
  readonly containment?: string;
  /** The sandbox that the command ran in. */
  readonly sandbox?: string;
}

export interface EndedOutput<M extends object> {
  readonly text: string;
  readonly metadata: M;
  readonly notes: readonly string[];
}

export function endedResult<M extends object>(
  outcome: Outcome | undefined,
  { text, metadata, notes }: EndedOutput<M>,
  dialect: Dialect = "shells",
): ToolResult<M> {
  if (outcome?.kind === "exited" && outcome.code === 0) return ToolResult.ok(text, metadata, { notes });
  const code = outcome ? CODES[outcome.kind] : "internal";
  return ToolResult.fail<M>(failureText(outcome, dialect), { code, output: text, metadata, notes });
}

/** The sentence that says how a command failed. */
export function failureText(outcome: Outcome | undefined, dialect: Dialect = "shells"): string {
  return dialect === "modes" ? `[command ${modesText(outcome)}]` : shellsText(outcome);
}

function shellsText(outcome: Outcome | undefined): string {
  switch (outcome?.kind) {
    case "exited":
      return `Command failed with exit code ${outcome.code}`;
    case "signaled":
      return `Command failed with exit code ${outcome.code} (${outcome.signal})`;
    case "timedOut":
      return `Command ${describeOutcome(outcome)}`;
    case "aborted":
      return "Command was cancelled by the caller and ended with everything it started";
    case "killed":
      return `Command was ${describeOutcome(outcome)}`;
    default:
      return `Failed to execute command: ${outcome ? describeOutcome(outcome) : "it did not end"}`;
  }
}

function modesText(outcome: Outcome | undefined): string {
  switch (outcome?.kind) {
    case "exited":
    case "signaled":
      return `failed: exit code ${outcome.code}`;
    case "timedOut":
      return `timed out after ${outcome.afterMs / 1000}s`;
    case "aborted":
      return "cancelled by the caller";
    case "killed":
      return describeOutcome(outcome);
    default:
      return `failed: ${outcome ? describeOutcome(outcome) : "it did not end"}`;
  }
}

export function endingMetadata(outcome: Outcome | undefined): { signal?: string; timeout_ms?: number } {
  if (outcome?.kind === "signaled") return { signal: outcome.signal };
  return outcome?.kind === "timedOut" ? { timeout_ms: outcome.afterMs } : {};
}

export function statusLine(outcome: Outcome | undefined, durationMs: number): string {
  if (!outcome) return "Status: running";
  const exitCode = codeOf(outcome);
  const code = exitCode === null ? "" : `, Exit code: ${exitCode}`;
  return `Status: ${statusOf(outcome)}${code}, Duration: ${durationMs}ms`;
}

export interface NotRunOptions<M extends CommandMetadata> {
  /** Metadata that is known from the call. */
  readonly metadata?: Partial<M>;
  /** Put before every message except a refusal. */
  readonly prefix?: string;
  readonly dialect?: Dialect;
}

export function notRunResult<M extends CommandMetadata>(
  error: unknown,
  { metadata, prefix = "", dialect = "shells" }: NotRunOptions<M> = {},
): ToolResult<M> {
  if (error instanceof BashSyntaxError) {
    const output = dialect === "modes" ? error.complaint : `[stderr]\n${error.complaint}`;
    return ToolResult.fail<M>(failureText({ kind: "exited", code: BashSyntaxError.EXIT_CODE }, dialect), {
      code: error.code,
      output,
      metadata: { ...metadata, exit_code: BashSyntaxError.EXIT_CODE, truncated: false } as Partial<M>,
      notes: [BashSyntaxError.NOTE],
    });
  }
  const code = error instanceof NacreError ? error.code : "internal";
  return ToolResult.fail<M>(`${isRefusalCode(code) ? "" : prefix}${messageOf(error)}`, {
    code,
    metadata: { ...metadata, ...refusalMetadata(error) } as Partial<M>,
  });
}
