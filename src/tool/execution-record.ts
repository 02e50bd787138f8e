// The record of one call. It contains a bounded copy of the arguments: limited in characters and values, detached from
// the caller's objects, and made without calling getters. The copy is for reading; it cannot be used for another call.

import type { ErrorCode } from "../support/errors.ts";
import {
  EXCERPT_MAX_CHARS,
  EXECUTION_ARGUMENTS_MAX_CHARS,
  EXECUTION_ARGUMENTS_MAX_VALUES,
} from "../support/limits.ts";
import type { ToolResult } from "./result.ts";

export interface ToolExecution {
  readonly tool: string;
  /** A bounded copy: long texts are cut. */
  readonly arguments: unknown;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly outcome: "success" | ErrorCode;
}

type Timing = Pick<ToolExecution, "startedAt" | "durationMs">;

export function recordOf(tool: string, args: unknown, timing: Timing, result: ToolResult): ToolExecution {
  return Object.freeze({
    tool: String(boundedCopy(tool)),
    arguments: boundedCopy(args),
    ...timing,
    outcome: result.code ?? "success",
  });
}

export function boundedCopy(value: unknown): unknown {
  try {
    return new Copier().copy(value);
  } catch {
    // A proxy can throw on any access. The record of a call must not break the call.
    return "[unreadable]";
  }
}

class Copier {
  #chars = EXECUTION_ARGUMENTS_MAX_CHARS;
  // This limit also bounds cycles and depth.
  #values = EXECUTION_ARGUMENTS_MAX_VALUES;

  copy(value: unknown): unknown {
    if (this.#values-- <= 0) return "[…]";
    if (typeof value === "string") {
      const kept = Math.min(value.length, this.#chars);
      this.#chars -= kept;
      return cut(value, kept);
    }
    if (typeof value === "function" || typeof value === "symbol") return `[${typeof value}]`;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return this.#items(value);
    return this.#properties(value);
  }

  #items(items: readonly unknown[]): unknown {
    const copies: unknown[] = [];
    for (let i = 0; i < items.length && this.#values > 0; i++) copies.push(this.#property(items, String(i)));
    if (copies.length < items.length) copies.push(`[… ${items.length - copies.length} more]`);
    return Object.freeze(copies);
  }

  #properties(value: object): unknown {
    const entries: [string, unknown][] = [];
    const keys = Object.keys(value);
    for (const key of keys) {
      if (this.#values <= 0) break;
      entries.push([cut(key, EXCERPT_MAX_CHARS), this.#property(value, key)]);
    }
    if (entries.length < keys.length) entries.push(["…", `[${keys.length - entries.length} more]`]);
    return Object.freeze(Object.fromEntries(entries));
  }

  #property(of: object, key: string): unknown {
    const property = Object.getOwnPropertyDescriptor(of, key);
    return property?.get ? "[getter]" : this.copy(property?.value);
  }
}

// A slice would keep the whole original string in memory. Encoding and decoding the slice creates an independent
// string.
function cut(text: string, chars: number): string {
  const kept = Buffer.from(text.slice(0, chars), "utf16le").toString("utf16le");
  return chars >= text.length ? kept : `${kept}… (${text.length} characters)`;
}
