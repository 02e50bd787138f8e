// Limits of files/.

/** Size of a file that the file tools read or write as a whole. */
export const FILE_MAX_BYTES = 32 * 1024 ** 2;
/** Lines of one Read, and characters of one line in it. */
export const READ_LINES_MAX_COUNT = 2_000;
export const READ_LINE_MAX_CHARS = 2_000;
/** Characters of a line that are searched for secrets before it is cut: a redaction mark can be shorter than the secret. */
export const READ_LINE_SEARCH_MAX_CHARS = 2 * READ_LINE_MAX_CHARS;
/** Characters of one result of Read, Glob or Grep. */
export const FILE_RESULT_MAX_CHARS = 100_000;
/** Number of files whose last read version is remembered, and bytes of their content that are kept to show changes. */
export const KNOWN_FILES_MAX_COUNT = 10_000;
export const KNOWN_FILES_MAX_BYTES = 64 * 1024 ** 2;
/** Edits of one call. */
export const EDITS_MAX_COUNT = 500;
/** Lines of a difference, nearest lines, and nearest names that one message lists. */
export const DIFFERENCE_LINES_MAX_COUNT = 40;
export const NEAREST_LINES_MAX_COUNT = 3;
export const NEAREST_NAMES_MAX_COUNT = 3;
/** Lines and names that are compared to find the nearest ones, and the characters of each. */
export const NEAREST_SEARCH_LINES_MAX_COUNT = 20_000;
export const NEAREST_SEARCH_NAMES_MAX_COUNT = 2_000;
export const NEAREST_LINE_MAX_CHARS = 200;
/** Minimum share of equal pairs of characters for a line to count as near. */
export const NEAREST_LINE_MIN_SHARE = 0.4;
/** Symbolic links followed to a file that does not exist yet. The kernel has the same limit. */
export const DANGLING_LINKS_MAX_COUNT = 40;
/** Attempts to read or resolve a file that changes during the attempt. */
export const FILE_ATTEMPTS_MAX_COUNT = 5;
/** Poll interval and longest wait for the lock of a file. */
export const FILE_LOCK_POLL_MS = 5;
export const FILE_LOCK_MAX_MS = 20_000;
/** Time and output of the program that searches for Glob and Grep. */
export const SEARCH_MAX_MS = 45_000;
export const SEARCH_OUTPUT_MAX_BYTES = 32 * 1024 ** 2;
/** Matches or files of one result, unless the call sets another limit. */
export const SEARCH_RESULTS_MAX_COUNT = 250;
/** Files of one Glob. */
export const GLOB_RESULTS_MAX_COUNT = 1_000;
/** Lines of a search program's error output that a message quotes. */
export const COMPLAINT_LINES_COUNT = 4;
/** Characters of a matched line. */
export const SEARCH_LINE_MAX_CHARS = 500;
/** Lines of context before and after a match. */
export const SEARCH_CONTEXT_LINES_MAX_COUNT = 100;
/** Length of a glob pattern. */
export const GLOB_MAX_CHARS = 1_000;
/** Maximum time for an answer of the worker in the sandbox, and its idle time before it exits. */
export const FILE_WORKER_ANSWER_MAX_MS = 60_000;
export const FILE_WORKER_IDLE_MS = 300_000;
/** Length of one answer of the worker. */
export const FILE_WORKER_ANSWER_MAX_BYTES = 2 * FILE_MAX_BYTES;
