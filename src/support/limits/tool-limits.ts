// Limits of tool/ and of messages in general.

import { KILL_GRACE_MS, KILL_MAX_MS, KILL_VERIFY_MAX_MS } from "./shell-limits.ts";

/** Calls in the history of an executor. */
export const EXECUTION_HISTORY_MAX_COUNT = 1_000;
/**
 * Maximum size of the arguments in the record of a call: characters of all strings together, and number of values at
 * any depth.
 */
export const EXECUTION_ARGUMENTS_MAX_CHARS = 4_096;
export const EXECUTION_ARGUMENTS_MAX_VALUES = 100;
/** The maximum duration of a kill after the grace period. */
export const ABORT_MARGIN_MS = KILL_MAX_MS + KILL_VERIFY_MAX_MS + 1_000;
/** Time for a tool to return its own, partial result after an abort: longer than the kill of its command can take. */
export const ABORT_GRACE_MS = KILL_GRACE_MS + ABORT_MARGIN_MS;
/** Time that a call waits for one hook. */
export const HOOK_MAX_MS = 5_000;
/** Length of a value or command that a message quotes. */
export const EXCERPT_MAX_CHARS = 80;
/** Problems, names or choices that one message lists. */
export const MESSAGE_LIST_MAX_COUNT = 20;
