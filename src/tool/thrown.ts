// Turns whatever was thrown into words and a failed result. Nothing here throws, whatever it is given.

import { messageOf, NacreError } from "../support/errors.ts";
import { isError, isErrorNamed } from "../support/realms.ts";
import { ToolResult } from "./result.ts";

/** A NacreError keeps its code; an abort is one wherever it surfaced; the rest is a mistake inside the tool. */
export function failureOf<M extends object>(
  thrown: unknown,
  tool: string,
  signal: AbortSignal | undefined,
): ToolResult<M> {
  if (thrown instanceof NacreError) return ToolResult.fail(wordsOf(thrown), { code: thrown.code });
  if (signal?.aborted || isAbortError(thrown)) {
    return ToolResult.fail(abortMessage(tool, signal), { code: "aborted" });
  }
  return ToolResult.fail(wordsOf(thrown), { code: "internal" });
}

/** The words of anything that was thrown; never empty. */
export function wordsOf(thrown: unknown): string {
  try {
    return messageOf(thrown) || (isError(thrown) ? thrown.name : typeof thrown);
  } catch {
    // Objects without a prototype cannot be turned into a string, and a message may be a getter.
    return "something that cannot be described was thrown";
  }
}

/** The sentence for a call that was aborted, with the caller's reason if there is one. */
export function abortMessage(tool: string, signal: AbortSignal | undefined): string {
  const reason: unknown = signal?.reason;
  const said = reason === undefined || isAbortError(reason) ? "" : `: ${wordsOf(reason)}`;
  return `Call to ${tool} was aborted${said}`;
}

function isAbortError(thrown: unknown): boolean {
  return isErrorNamed(thrown, "AbortError");
}
