// The record of one call, and the bounded history an executor keeps of them.

import type { ErrorCode } from "../support/errors.ts";
import { boundedCopy } from "./bounded-copy.ts";
import type { ToolResult } from "./result.ts";

export interface ToolExecution {
  readonly tool: string;
  /** A bounded copy: long texts are cut, the rest is detached from what the caller passed. */
  readonly arguments: unknown;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly outcome: "success" | ErrorCode;
}

export interface Timing {
  readonly startedAt: number;
  readonly durationMs: number;
}

export function recordOf(tool: string, args: unknown, timing: Timing, result: ToolResult): ToolExecution {
  return Object.freeze({
    tool: String(boundedCopy(tool)),
    arguments: boundedCopy(args),
    ...timing,
    outcome: result.code ?? "success",
  });
}

export class ExecutionHistory {
  readonly #maxCount: number;
  readonly #executions: ToolExecution[] = [];

  constructor(maxCount: number) {
    this.#maxCount = maxCount;
  }

  add(execution: ToolExecution): void {
    this.#executions.push(execution);
    if (this.#executions.length > this.#maxCount) this.#executions.shift();
  }

  /** Oldest first. */
  list(): readonly ToolExecution[] {
    return [...this.#executions];
  }
}
