// Limits of cli/.

/** Age up to which `nacre ps` lists a shell that ended. */
export const PS_RECENT_MS = 10 * 60_000;
/** Poll interval of `nacre ps --watch`. */
export const PS_WATCH_MS = 500;
/** Width of a scope, and of a directory or command, before the table is fitted to the terminal. */
export const PS_SCOPE_MAX_CHARS = 60;
export const PS_CELL_MAX_CHARS = 1_000;
/** Length of a command in the output of `nacre run -b` and in shell completion. */
export const STARTED_COMMAND_MAX_CHARS = 200;
export const COMPLETION_COMMAND_MAX_CHARS = 40;
/** Width of help: the maximum on a terminal, and the width without a terminal. */
export const HELP_MAX_COLUMNS = 120;
export const HELP_DEFAULT_COLUMNS = 100;
/** Width of a quoted line with a marked part: the default, the minimum, and the context before the mark. */
export const UNDERLINED_MAX_COLUMNS = 100;
export const UNDERLINED_MIN_COLUMNS = 20;
export const UNDERLINED_CONTEXT_COLUMNS = 20;
/** `nacre doctor`: maximum wait for a command to end, or for a change to be reported. */
export const DOCTOR_WAIT_MS = 10_000;
/** `nacre doctor`: time for an ended orphan to be reaped, and the poll interval. */
export const REAPED_MAX_MS = 10_000;
export const REAPED_POLL_MS = 20;
/**
 * `nacre doctor`: free space below which it warns, and size of its test file. A shell without output needs less than
 * this file.
 */
export const LOW_SPACE_BYTES = 1024 ** 3;
export const TRIAL_FILE_BYTES = 64 * 1024;
/** Time for one command of the tour. */
export const TOUR_STEP_MAX_MS = 5_000;
/** Compiled code in the state root: number of files, total size, and maximum age of an unfinished file. */
export const CODE_CACHE_MAX_COUNT = 40;
export const CODE_CACHE_MAX_BYTES = 64 * 1024 ** 2;
export const CODE_CACHE_TEMPORARY_MAX_MS = 60_000;
/**
 * Delay after which a running `nacre` command saves its compiled code. A command that ends earlier saves the code at
 * its end.
 */
export const CODE_CACHE_SAVE_AFTER_MS = 5_000;
