// The interface between a fleet and an engine. nacre only requests and releases sandboxes. Placement, quotas and
// isolation belong to the engine.
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { type ClientResult, runClientProgram } from "../../engine/link-process.ts";
import { isSameProcess, thisProcess } from "../../engine/process-table.ts";
import { attempt } from "../../support/attempt.ts";
import { NacreError } from "../../support/errors.ts";
import { FLEET_ANSWER_MAX_MS, PRINTED_EXCERPT_MAX_CHARS } from "../../support/limits.ts";
import { lastPrintedLines } from "../links/client-output.ts";

export interface SandboxRequest {
  readonly name: string;
  /** The process that leases the sandbox, as fleetOwner() names it. */
  readonly owner: string;
  readonly deadlineSeconds: number;
}

export interface LeasedSandbox {
  readonly id: string;
  /** The URL of its link. */
  readonly url: string;
}

export interface ListedSandbox extends LeasedSandbox {
  readonly engine: string;
  readonly owner: string;
  /** The status that the engine reports. */
  readonly status: string;
  /** Whether the sandbox has ended and the engine only keeps its record. */
  readonly hasEnded: boolean;
}

export interface FleetEngine {
  readonly name: string;
  lease(request: SandboxRequest): Promise<LeasedSandbox>;
  /** The sandboxes of this user that nacre has leased. */
  list(): Promise<readonly ListedSandbox[]>;
  release(id: string): Promise<void>;
}

/** Identifies this process uniquely: host, boot, PID and start time. */
export function fleetOwner(): string {
  const { pid, startTime } = thisProcess();
  return `${hostname()}.${bootId()}.${pid}.${startTime}`;
}

/** Whether the owner is a process of this machine that has ended. */
export function isOwnerGone(owner: string): boolean {
  const [, host, boot, pid, startTime = ""] = /^(.*)\.([0-9a-f]{8})\.(\d+)\.(\d+)$/.exec(owner) ?? [];
  if (host !== hostname() || pid === undefined) return false;
  return boot !== bootId() || !isSameProcess(Number(pid), startTime);
}

/** Whether no program uses the sandbox, because the sandbox or its owner has ended. */
export function isAbandoned({ owner, hasEnded }: ListedSandbox): boolean {
  return hasEnded || isOwnerGone(owner);
}

function bootId(): string {
  const text = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")) ?? "00000000";
  return text.split("-")[0] ?? "00000000";
}

/** Runs a client program of the engine. If it fails, throws an error with the last line of its output. */
export async function askEngine(what: string, argv: readonly string[], input?: string): Promise<string> {
  const result = await runClientProgram(argv, { input, maxMs: FLEET_ANSWER_MAX_MS });
  if (result.code === 0) return result.stdout;
  throw new NacreError("unavailable", `${what} failed: ${describeFailure(argv, result)}`);
}

function describeFailure(
  [program = ""]: readonly string[],
  { startError, stderr, stdout, code, timedOut }: ClientResult,
): string {
  if (startError === "ENOENT") return `the program ${program} was not found on PATH. Install it.`;
  if (startError !== undefined) return `the program ${program} could not be started (${startError}).`;
  if (timedOut)
    return `${program} did not end within ${FLEET_ANSWER_MAX_MS}ms. Its server may be unreachable: run ${program} by hand.`;
  // Client programs repeat an error before they explain it: the last line is enough.
  const printed = lastPrintedLines(`${stdout}\n${stderr}`, {
    maxLines: 1,
    maxChars: PRINTED_EXCERPT_MAX_CHARS,
  });
  return `${program} ended with exit code ${code}${printed === "" ? "" : `: ${printed}`}`;
}
