// Limits of engine/: the keeper, slots, scans of /proc, and the files of a shell.

/** Maximum wait for the greeting of a keeper, and for a slot to get ready. Prevents a hang. */
export const KEEPER_ANSWER_MAX_MS = 10_000;
/** Time for the last answers of a dead keeper, or of a shim that it forked, to arrive. */
export const KEEPER_LAST_ANSWERS_MS = 100;
/** Interval at which nacre checks whether the keeper is stopped while an answer is outstanding. */
export const KEEPER_STOPPED_CHECK_MS = 100;
/**
 * Maximum time of retries while the system has no free processes or file descriptors, and the first pause between them.
 */
export const SPAWN_RETRY_MAX_MS = 2_000;
export const SPAWN_RETRY_FIRST_MS = 20;
/** Restarts of a keeper within the window. After these, nacre waits for one window before the next restart. */
export const KEEPER_RESTARTS_MAX_COUNT = 5;
export const KEEPER_RESTART_WINDOW_MS = 10_000;
/**
 * Size that every pipe accepts in one write, even for a user with many pipes. The variables of a larger job go into the
 * environment of a new slot.
 */
export const JOB_MAX_BYTES = 4_096;

/** Slots that wait for a command. */
export const POOL_SLOTS_COUNT = 2;
/**
 * Delay from the start of a command to the refill of the pool. If the command ends earlier, the pool is refilled then.
 */
export const POOL_REFILL_DELAY_MS = 20;
/** Delay of the refill after the end of a command, so that its caller gets the result first. */
export const POOL_REFILL_AFTER_END_MS = 1;
/** Attempts to create the state directory again when another program removes it during the start of one shell. */
export const STATE_DIRECTORY_TRIES_MAX_COUNT = 3;
/** Empty directories kept for new shells in one state root. */
export const SPARE_DIRECTORIES_MAX_COUNT = 16;
/** Slots that are forked at the same time. */
export const OPENING_SLOTS_MAX_COUNT = 16;
/** Delay before a slot that died is replaced. */
export const REFILL_AFTER_DEATH_MS = 500;

/** Processes per step of a scan of /proc. Other work runs between two steps. */
export const SCAN_CHUNK_COUNT = 200;
/** Read buffers: a file of a process, the I/O counters of a logger, /proc/loadavg. */
export const PROC_READ_BYTES = 16 * 1024;
export const PROC_IO_READ_BYTES = 512;
export const PROC_LOADAVG_READ_BYTES = 128;
/** The unit of processor times in /proc. The same on every Linux that nacre supports. */
export const CLOCK_TICK_MS = 10;
/** Size of a page in /proc/PID/statm, on the platforms that nacre supports. */
export const MEMORY_PAGE_BYTES = 4_096;
/** A chain of processes that each fork one child and exit: newest PIDs per check, and number of checks. */
export const NEWEST_PIDS_COUNT = 6;
export const NEWEST_CHECKS_COUNT = 8;
/**
 * Limits for killing such a chain: time without a yield to other work, and quiet time after which the chain counts as
 * dead.
 */
export const NEW_PROCESS_BURST_MS = 4;
export const NEW_PROCESS_QUIET_MS = 12;
/** Number of entries in a listing of /proc that cost as much as a check of one PID. */
export const PID_PROBES_PER_ENTRY_COUNT = 2;
/** Forks per millisecond that no machine exceeds. */
export const FORKS_PER_MS_MAX_COUNT = 100;
/**
 * Number of readings of the last PID during the time in which PIDs can wrap around. There are several, in case a timer
 * fires late.
 */
export const PID_READINGS_PER_WRAP_COUNT = 3;
/** Scans for leftovers. A scan without a result is repeated if the kernel assigned PIDs during the scan. */
export const LEFTOVER_SCANS_COUNT = 3;

/** Usual capacity of a pipe. */
export const SCRIPT_FIFO_BYTES = 64 * 1024;
/** Pause between two attempts to write to a full pipe. */
export const SCRIPT_RETRY_MS = 1;
/** Age and total size at which finished shells are deleted. */
export const FINISHED_MAX_AGE_SECONDS = 3_600;
export const SPOOL_QUOTA_BYTES = 10 * 1024 ** 3;
/**
 * Time since the last change after which a shell of another PID namespace is deleted. Before that, the shell may still
 * run.
 */
export const SPOOL_UNSEEN_MAX_MS = 7 * 24 * 3_600_000;
/**
 * Age at which a directory without an identity is deleted. A shim may still write the identity of a younger directory.
 */
export const SPOOL_FRESH_MS = 60_000;
/**
 * Size of the write that tests for disk space: as much as a logger (cat) writes at once. A smaller test could still
 * fit.
 */
export const DISK_PROBE_BYTES = 128 * 1024;
/** Maximum run time of a program that probes the system, and the length of its output that is kept. */
export const PROBE_MAX_MS = 10_000;
export const PROBE_OUTPUT_MAX_CHARS = 2_000;
/** The longest delay that setTimeout supports. */
export const TIMER_MAX_MS = 2 ** 31 - 1;
/** Age at which the list of listening sockets is read again. Waits for many ports share one list. */
export const LISTENERS_MAX_AGE_MS = 20;
