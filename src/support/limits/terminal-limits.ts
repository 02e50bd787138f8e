// Limits of terminal/: sizes, input, and the checks of what a program waits for.

/** The size of a terminal if the caller names none. */
export const TERMINAL_ROWS_COUNT = 24;
export const TERMINAL_COLS_COUNT = 80;
/** The smallest and the largest number of rows or columns. */
export const TERMINAL_SIDE_MIN_COUNT = 2;
export const TERMINAL_SIDE_MAX_COUNT = 500;
/** Text and keys of one call. */
export const TERMINAL_INPUT_MAX_BYTES = 64 * 1024;
export const TERMINAL_KEYS_MAX_COUNT = 256;
/** Time to wait for a program that does not read its input. After that, the rest of the input is not typed. */
export const TERMINAL_TYPE_MAX_MS = 5_000;
/** Maximum wait for a program to read. After that, a line of text is typed before the program asks for it. */
export const TERMINAL_READER_MAX_MS = 1_000;
/** Pause between two attempts to write input to a full pipe. */
export const TERMINAL_TYPE_POLL_MS = 5;
/** Time for a new terminal to open its input. */
export const TERMINAL_START_MAX_MS = 10_000;
/** Maximum amount of output that is replayed to rebuild a screen. If the output is longer, only its end is replayed. */
export const TERMINAL_REPLAY_MAX_BYTES = 64 * 1024 * 1024;
/** Size of one piece of output for the screen. */
export const TERMINAL_PIECE_BYTES = 64 * 1024;
/** Maximum time that a call waits after typing until the program asks for input again. */
export const TERMINAL_WAIT_MS = 2_000;
/** A program waits if nothing has changed for this time, checked at this interval. */
export const TERMINAL_SETTLE_MS = 60;
/**
 * The same time, but for a program that waits with a timeout, or if the kernel does not show what the program waits
 * for.
 */
export const TERMINAL_SETTLE_UNSURE_MS = 300;
/** Time for a program to react to a key, if neither its screen nor its processor time changes. */
export const TERMINAL_REACTION_MAX_MS = 250;
export const TERMINAL_POLL_MS = 15;
/** Entries of a poll or select call that are read from the memory of a process. */
export const TERMINAL_POLLED_MAX_COUNT = 1_024;
/**
 * A program that waits for input for at most this time continues by itself: it works or draws, and only polls for keys.
 */
export const TERMINAL_BRIEF_WAIT_MS = 250;
/** Processes of one shell that are examined. */
export const TERMINAL_PROCESSES_MAX_COUNT = 512;
/** Typed characters of an unfinished line that are kept to judge the whole line. */
export const TERMINAL_LINE_MAX_CHARS = 64 * 1024;
/** Length up to which an attached terminal holds back an incomplete control sequence. */
export const TERMINAL_SEQUENCE_MAX_BYTES = 4 * 1024;

/** The size of struct pollfd. */
export const POLLFD_BYTES = 8;
/** The size of struct timespec and struct timeval. */
export const TIMESPEC_BYTES = 16;
