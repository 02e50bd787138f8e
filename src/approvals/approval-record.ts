// One approval request on disk, its answer, and its status, which is derived from both and never stored.
import {
  bootId,
  isSameProcess,
  type ProcessIdentity,
  pidNamespace,
  thisProcess,
} from "../engine/process-table.ts";
import { attempt } from "../support/attempt.ts";
import { wallMs } from "../support/clock.ts";
import { wirePath } from "../support/path-text.ts";
import type { ApprovalEffect, ApprovalRequest, PreviewSummary } from "../tool/context.ts";
import type { JudgedEffect } from "./judged-effect.ts";

/** The process that made a request, with the boot and the PID namespace in which its PID is valid. */
export interface ApprovalHost extends ProcessIdentity {
  readonly boot: string;
  readonly namespace: string;
}

/** The fields that bind an answer to a request: the answer is valid only if all of them are equal. */
interface BoundFields
  extends Pick<ApprovalRequest, "command" | "cwd" | "session" | "background" | "rule" | "reason"> {
  readonly effects: readonly ApprovalEffect[];
  /** The scope of the call. */
  readonly scope: string;
}

/** The content of a request's file. Times are ISO 8601. */
export interface ApprovalRecord
  extends BoundFields,
    Pick<ApprovalRequest, "description" | "alternative" | "severity" | "span" | "preview"> {
  readonly id: string;
  /** The directory that the agent works in. */
  readonly workspace: string;
  /** The effect that a remembered answer would cover; null if the policy does not know it well enough. */
  readonly judged: readonly JudgedEffect[] | null;
  readonly created_at: string;
  readonly deadline: string;
  /** The process that made the request; null if the request outlives that process. */
  readonly host: ApprovalHost | null;
  /** Whether a call of the host is waiting for the answer. */
  readonly waiting: boolean;
  /** How many times another host has taken over the request after a crash. */
  readonly reopened: number;
}

/** How a request ended: the first answer, or the reason why there is none. */
export interface ApprovalEnd {
  readonly status: "approved" | "denied" | "expired" | "withdrawn";
  /** Where the answer came from: "nacre approve", "page", "elicitation", "terminal", "approve callback". */
  readonly by: string;
  readonly at: string;
  /** The text that the person wrote. */
  readonly reason?: string;
  /** The id of the remembered answer, if nacre stored this answer as one. */
  readonly remembered?: string;
}

export type ApprovalStatus = "open" | "abandoned" | ApprovalEnd["status"];

/** A request with its answer. */
export interface Approval {
  readonly record: ApprovalRecord;
  readonly end: ApprovalEnd | undefined;
  /** When a call used the answer. */
  readonly usedAt: string | undefined;
}

/** An approval as `nacre approvals --json`, `kit.approvals` and the page show it. */
export interface ApprovalEntry
  extends Pick<
    ApprovalRecord,
    "id" | "command" | "cwd" | "session" | "scope" | "background" | "rule" | "reason" | "severity" | "span"
  > {
  readonly description?: string;
  readonly alternative?: string;
  readonly preview?: PreviewSummary;
  readonly workspace: string;
  readonly effects: readonly ApprovalEffect[];
  readonly created_at: string;
  readonly deadline: string;
  readonly status: ApprovalStatus;
  /** Whether a call waits for the answer right now. */
  readonly waiting: boolean;
  /** Whether an answer can be remembered. */
  readonly rememberable: boolean;
  readonly answer?: Omit<ApprovalEnd, "status">;
  readonly used_at?: string;
}

/**
 * `open`: a person can answer, and a call will use the answer. `abandoned`: the host died; an identical call reopens
 * it.
 */
export function statusOfApproval({ record, end }: Approval): ApprovalStatus {
  if (end) return end.status;
  if (isPastDeadline(record)) return "expired";
  return record.host !== null && !isAliveHost(record.host) ? "abandoned" : "open";
}

export function isPastDeadline({ deadline }: Pick<ApprovalRecord, "deadline">): boolean {
  // Treat an unreadable deadline as passed: otherwise an answer would be valid forever.
  return !(Date.parse(deadline) > wallMs());
}

export function thisHost(): ApprovalHost {
  return { ...thisProcess(), boot: bootId(), namespace: pidNamespace() };
}

/** A host in another PID namespace of this machine counts as alive, because its PID cannot be checked here. */
export function isAliveHost({ pid, startTime, boot, namespace }: ApprovalHost): boolean {
  if (boot !== bootId()) return false;
  return namespace !== pidNamespace() || isSameProcess(pid, startTime);
}

/** Whether an answer to the recorded request is also valid for a request with these fields. */
export function isBoundTo(record: ApprovalRecord, fields: BoundFields): boolean {
  return bindingOf(record) === bindingOf(fields);
}

function bindingOf({ command, cwd, session, background, rule, reason, effects, scope }: BoundFields): string {
  const listed = effects.map(({ effect, path, class: kind, recursive }) => [effect, path, kind, recursive]);
  return JSON.stringify([command, cwd, session, background, rule, reason, scope, listed]);
}

export function entryOf(approval: Approval): ApprovalEntry {
  const { record, end, usedAt } = approval;
  const { host: _, judged, reopened: __, waiting, cwd, workspace, ...rest } = record;
  const status = statusOfApproval(approval);
  return {
    ...rest,
    cwd: wirePath(cwd),
    workspace: wirePath(workspace),
    status,
    waiting: waiting && usedAt === undefined && status !== "abandoned" && !isEnded(status),
    rememberable: judged !== null,
    ...(end && { answer: withoutStatus(end) }),
    ...(usedAt === undefined ? {} : { used_at: usedAt }),
  };
}

/** Whether the request ended without an answer that a call can use. */
function isEnded(status: ApprovalStatus): boolean {
  return status === "expired" || status === "withdrawn";
}

function withoutStatus({ status: _, ...rest }: ApprovalEnd): Omit<ApprovalEnd, "status"> {
  return rest;
}

/** Returns undefined for a text that is not a record. */
export function readRecord(text: string): ApprovalRecord | undefined {
  const value = attempt(() => JSON.parse(text) as Partial<ApprovalRecord>);
  const isRecord =
    typeof value?.id === "string" &&
    typeof value.command === "string" &&
    typeof value.cwd === "string" &&
    typeof value.rule === "string" &&
    typeof value.deadline === "string" &&
    Array.isArray(value.effects);
  return isRecord ? (value as ApprovalRecord) : undefined;
}
