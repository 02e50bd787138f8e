// Limits of session/.

/** Sessions with a live bash. If a further session needs one, the session that has been idle longest loses its bash. */
export const SESSIONS_MAX_COUNT = 32;
/** Shells that a session remembers before it drops those without processes. */
export const SESSION_SHELLS_MAX_COUNT = 32;
/** Time that a result waits for a new bash to report which state it could not restore. */
export const RESTORE_CHECK_MAX_MS = 1_000;
/** Names that one note lists. */
export const NOTE_NAMES_MAX_COUNT = 20;
/** Maximum length of a variable or alias that the policy sees. A longer value is unknown to the policy. */
export const MEANING_VALUE_MAX_CHARS = 16 * 1024;
/** Maximum run time of a session's profile. */
export const PROFILE_MAX_MS = 10_000;
/**
 * Maximum time for the output of a command to reach the disk after the command's report. Also the time without new
 * output after which a logger counts as drained if its state cannot be read.
 */
export const SESSION_DRAIN_MAX_MS = 5_000;
export const SESSION_DRAIN_IDLE_MS = 30;
/**
 * Number of checks of a logger that block the thread, and the pause between them. A 0.01 ms wait takes about 0.1 ms in
 * practice, which is a tenth of the shortest timer. Later checks use a timer.
 */
export const SESSION_DRAIN_BLOCKING_COUNT = 10;
export const SESSION_DRAIN_PAUSE_MS = 0.01;
export const SESSION_DRAIN_POLL_MS = 1;
/**
 * Size of an output file at which the loggers of a session are replaced: in bytes, and as a share of the disk cap. The
 * smaller size applies.
 */
export const SESSION_LOG_MAX_BYTES = 64 * 1024;
export const SESSION_LOG_MAX_SHARE = 1 / 8;
/** Minimum size of an output that gets its own file, and maximum size of an output that is copied into that file. */
export const SESSION_OWN_FILE_MIN_BYTES = 24 * 1024;
export const SESSION_COPY_MAX_BYTES = 8 * 1024 ** 2;
/** Buffer size for this copy. */
export const SESSION_COPY_CHUNK_BYTES = 1024 ** 2;
/** Number of files with earlier output that are kept per bash of a session. */
export const SESSION_RETIRED_MAX_COUNT = 64;
/** Output files of one bash of a sandboxed session. The numbers of the next bash start after them. */
export const SANDBOX_FILES_COUNT = 1_000_000;
/** Poll interval while a background shell takes over the state of its session. */
export const INHERITANCE_POLL_MS = 2;
/** Time for the bash of a session to write its state. A stopped bash never does. */
export const STATE_SAVE_MAX_MS = 5_000;
/**
 * A bash that waits for a command although the host has sent one no longer runs the harness. To detect this: delay of
 * the first check, interval of later checks, pause between the checks that must agree, and the number of these checks.
 */
export const WATCHDOG_FIRST_MS = 100;
export const WATCHDOG_INTERVAL_MS = 250;
export const WATCHDOG_LOOK_MS = 20;
export const WATCHDOG_CHECKS_COUNT = 3;
/** Time for such a bash to exit by itself. */
export const WATCHDOG_EXIT_MS = 300;
/** Poll interval while waiting for a named session. */
export const SESSION_TURN_POLL_MS = 50;
/**
 * If a save takes longer than the first number, the next save runs in a saver, a fork of bash. The same happens after a
 * command that may have set many variables and ran for longer than the second number.
 */
export const STATE_SAVE_SLOW_MS = 3;
export const LARGE_STATE_MIN_MS = 5;
/** Pause of a saver before its work. If the next command ends within this time, the host ends the saver. */
export const SAVER_PAUSE_MS = 30;
/** Poll interval while waiting for a saver. */
export const SAVER_POLL_MS = 5;
/**
 * Maximum age and number of ended savers that the first process of the system has not reaped. If either is exceeded, a
 * session starts no more savers.
 */
export const UNREAPED_SAVER_MAX_MS = 30_000;
export const UNREAPED_SAVERS_MAX_COUNT = 512;
/** Age up to which the cached link to the directory of bash is used without another read. */
export const FRESH_LINK_MAX_MS = 1;
