// Limits of shell/: one run, its output, its end, its adoption.

/** Disk space for one output stream. */
export const STREAM_CAP_BYTES = 2 * 1024 ** 3;
/** Length of the description of a command and of the name of an agent. */
export const SHELL_LABEL_MAX_CHARS = 300;
/** Maximum wait for the last message of a dead shim if its record was removed. */
export const EXIT_MESSAGE_MAX_MS = 1_000;
/** Time for a session to drain its loggers and to report the end of a command that became a shell. */
export const EXIT_REPORT_MAX_MS = 8_000;
/** Time between SIGTERM and SIGKILL. */
export const KILL_GRACE_MS = 2_000;
/** Pause between two checks during this grace period. The pause doubles from the first to the longest. */
export const KILL_POLL_FIRST_MS = 5;
export const KILL_POLL_MAX_MS = 100;
/** Time for killed processes to disappear before they count as survivors. Also used by engine/. */
export const KILL_VERIFY_MAX_MS = 2_000;
/**
 * Time for a kill after the grace period. After this time, the caller gets a report that names the remaining processes
 * as survivors.
 */
export const KILL_MAX_MS = 5_000;
/** Longest pause between two attempts to kill survivors: before this report, and in the background. */
export const KILL_RETRY_MAX_MS = 50;
export const KILL_AGAIN_MAX_MS = 10_000;
/**
 * Before a scan: time to detect a command that forks faster than a scan can follow, and time to stop its new processes.
 */
export const FORK_CHECK_MS = 0.5;
export const FORK_CHECK_MAX_MS = 25;
/**
 * Number of scans in a row that may find new processes, and the time for which nacre then kills each new process as it
 * appears.
 */
export const FREEZE_ROUNDS_MAX_COUNT = 3;
export const NEW_PROCESS_MAX_MS = 1_000;
/**
 * Interval at which nacre sends SIGCONT to a shim that has not recorded the end of a killed shell, because the shim may
 * be stopped.
 */
export const CONTINUE_SHIMS_MS = 80;
/** Time for new processes to stop appearing before a signal is sent to the processes that were found. */
export const STOP_TOGETHER_MAX_MS = 500;
/** Pause between two checks for such new processes. */
export const STOP_TOGETHER_POLL_MS = 1;
/** Time for the INT traps of an interrupted command before it is killed. */
export const INTERRUPT_GRACE_MS = 1_000;
/**
 * Longest pause between two checks for the end of an interrupted command, or for processes that need the signal again.
 */
export const INTERRUPT_ROUND_MS = 50;
/**
 * Time for a process such as `tee`, which has a command's output open, to end by itself, and for a new child to run
 * exec.
 */
export const LEFTOVER_GRACE_MS = 30;
/**
 * Longest wait for such processes, including the time in which they get no processor; and longest pause between checks.
 */
export const LEFTOVER_WAIT_MAX_MS = 2_000;
export const LEFTOVER_POLL_MAX_MS = 8;
/** Pause before another attempt to kill a shell at its deadline. */
export const DEADLINE_RETRY_MS = 1_000;

/** Interval of the search for shims that died without a message, and number of shims per check. */
export const LIVENESS_CHECK_MS = 500;
export const LIVENESS_READS_COUNT = 50;
/** Marks of output times: the pause between two is at least the shell's age divided by this (also in output-times.sh). */
export const OUTPUT_TIMES_PER_AGE_COUNT = 4_096;
/** Largest uncertainty of an output time that is shown without a remark. */
export const OUTPUT_TIME_COARSE_MS = 2_000;
/** Live background shells of one scope. */
export const LIVE_SHELLS_PER_SCOPE_MAX_COUNT = 64;
/** Length of a command in the list of live shells, and ids that an ambiguous prefix lists. */
export const SHELL_LIST_COMMAND_MAX_CHARS = 40;
export const SHELL_IDS_LISTED_MAX_COUNT = 5;

/** Maximum size of one read of new output. The next read returns the rest. */
export const READ_MAX_BYTES = 256 * 1024;
/** Interval at which a watched file is checked in case a notification was lost. */
export const WATCH_FALLBACK_MS = 250;
/** Chunk size of following and searching output, and chunks between two yields. */
export const READ_CHUNK_BYTES = 64 * 1024;
export const READ_TURN_CHUNKS_COUNT = 16;
/** Length of the start of an unfinished line that a search keeps for its next chunk. */
export const MATCH_LINE_MAX_CHARS = 4 * 1024;
/** Size of output that is returned as one string. */
export const ALL_OUTPUT_MAX_BYTES = 64 * 1024 ** 2;

/** Interval at which a manager deletes finished shells, and the delay of the first deletion. */
export const SWEEP_INTERVAL_MS = 60_000;
export const SWEEP_DELAY_MS = 1_000;
/** Ids of removed shells that a manager remembers, to report them as swept. */
export const REMOVED_SHELL_IDS_MAX_COUNT = 10_000;
/** Time for the adoption of the shells of dead hosts when a manager starts, and number of shells between two yields. */
export const ADOPT_MAX_MS = 2_000;
export const ADOPT_CHUNK_COUNT = 50;
/** Time for a bash to reach the read of its job after its start, and the poll interval. */
export const ADOPT_UNCLEAR_MAX_MS = 250;
export const ADOPT_POLL_MS = 2;
/** Lifetime of a durable shell whose caller set no deadline. */
export const DURABLE_DEADLINE_MS = 86_400_000;

/**
 * Search of output: size of one read. A longer line is matched in parts of this size, with the second size as overlap.
 */
export const SEARCH_BLOCK_BYTES = 512 * 1024;
export const SEARCH_OVERLAP_BYTES = 8 * 1024;
/** Length of the text that is tested for any match before its lines are tested one by one. */
export const SEARCH_CHUNK_CHARS = 64 * 1024;
/** Maximum length of one line in a result. If a line is longer, the result shows the part around the match. */
export const OUTPUT_SEARCH_LINE_MAX_CHARS = 1_000;
/** Lines before and after a match. */
export const SEARCH_CONTEXT_MAX_COUNT = 100;
/** Maximum time for a search, unless the call sets another limit. */
export const SEARCH_DEFAULT_MS = 30_000;
/** Maximum time for which the event loop is blocked while the lines of a result are sanitized. */
export const SEARCH_TURN_MS = 5;
/** Memory of the thread that searches. */
export const SEARCH_HEAP_MAX_BYTES = 48 * 1024 ** 2;
/** Poll interval of a wait for a port or a file, and of the search for a listener in another network namespace. */
export const READY_POLL_MS = 50;
export const READY_NAMESPACE_POLL_MS = 500;
/** The largest TCP port. */
export const PORT_MAX_COUNT = 65_535;

/** Diagnosis: time during which processes are observed, and number of samples. */
export const DIAGNOSIS_WINDOW_MS = 1_000;
export const DIAGNOSIS_SAMPLES_COUNT = 5;
/** Share of processor time at which a process counts as running. */
export const DIAGNOSIS_BUSY_SHARE = 0.5;
/** Length of a command line in a diagnosis, and processes that its summary names. */
export const DIAGNOSIS_COMMAND_MAX_CHARS = 200;
export const DIAGNOSIS_NAMED_MAX_COUNT = 3;
/** Length of the directory name that stands for a scope. */
export const FINISHED_SCOPE_NAME_CHARS = 32;
