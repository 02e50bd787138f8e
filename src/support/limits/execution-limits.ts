// Limits of execution/.

import { REDACT_HOLD_MAX_CHARS } from "./text-limits.ts";

/** Directory entries that are checked for symbolic links when a pattern may match them. */
export const LISTED_ENTRIES_MAX_COUNT = 2_000;
/** Timeout of a foreground command: the default, and the maximum that a call can set. */
export const DEFAULT_TIMEOUT_MS = 120_000;
export const MAX_TIMEOUT_MS = 600_000;
/** The shortest timeout. A caller that passes a smaller number probably means seconds. */
export const MIN_TIMEOUT_MS = 1_000;
/** Foreground commands of one scope that run at the same time. Further commands wait in a queue. */
export const FOREGROUND_PER_SCOPE_MAX_COUNT = 16;
/** Shortest interval between two progress reports. */
export const PROGRESS_INTERVAL_MS = 250;
/** Lines in a progress report, and bytes that are read for them. */
export const PROGRESS_LINES_COUNT = 5;
export const PROGRESS_READ_BYTES = 2 * REDACT_HOLD_MAX_CHARS;
/** Size up to which an output is read as a whole, and number of bytes read at each end of a larger output. */
export const WHOLE_READ_MAX_BYTES = 256 * 1024;
export const END_READ_BYTES = 128 * 1024;
/** Chunk size of filtering and counting lines. Other work runs between two chunks. */
export const SCAN_PIECE_BYTES = 256 * 1024;
/** Wait time of BashOutput: the maximum, and the default. */
export const WAIT_MAX_MS = 50_000;
export const WAIT_DEFAULT_MS = 30_000;
/** Maximum length of a line that a filter matches as a whole. A longer line is matched in parts. */
export const FILTER_LINE_MAX_CHARS = 4 * 1024 ** 2;
/** Time for `bash -n` to read a text that nacre's parser cannot read. */
export const SYNTAX_CHECK_MAX_MS = 10_000;
/** Size of a policy file. */
export const POLICY_FILE_MAX_BYTES = 1024 * 1024;
/**
 * Maximum length of a command that is searched for a path with unquoted spaces, and number of words in the
 * path.
 */
export const HINT_COMMAND_MAX_CHARS = 2_000;
export const HINT_PATH_MAX_WORDS = 8;
/** Length of a matched line in a note. */
export const MATCH_NOTE_MAX_CHARS = 200;
/** Timeouts of the `modes` dialect. */
export const MODE_DEFAULT_TIMEOUT_MS = 30_000;
export const MODE_SLOW_TIMEOUT_MS = 900_000;
export const MODE_BACKGROUND_TIMEOUT_MS = 86_400_000;
/**
 * Number of commands whose verdicts are cached, and their maximum length. A longer command is judged each
 * time.
 */
export const VERDICT_CACHE_MAX_COUNT = 64;
export const VERDICT_CACHE_COMMAND_MAX_CHARS = 4_096;
/** Part of a result that is reserved for the notes of a search. */
export const OUTPUT_NOTES_MAX_CHARS = 500;
/** How long before its timeout a command is diagnosed. */
export const DIAGNOSIS_LEAD_MS = 1_100;
/** Length of the end of an output that is searched for a prompt. */
export const PROMPT_TAIL_MAX_CHARS = 2_000;
