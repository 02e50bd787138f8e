// Limits of ui/.

/** The port that `nacre ui` tries first, so that a page reconnects after a restart of the server. */
export const UI_PORT_COUNT = 7411;
/** Time for which a restarted server on the same port accepts the earlier token. */
export const UI_TOKEN_KEPT_MS = 12 * 60 * 60_000;
/** Poll interval for the shells and the approvals while a page is connected. */
export const UI_POLL_MS = 500;
/** Poll interval for the processes of the shells: CPU time, memory, ports. */
export const UI_PROCESSES_POLL_MS = 2_000;
/** Interval between two comments on a quiet stream, so that a page notices a dead connection. */
export const UI_HEARTBEAT_MS = 5_000;
/** Time without output after which a running shell needs attention. */
export const UI_SILENT_MS = 2 * 60_000;
/** Ended shells that the page lists. */
export const UI_ENDED_MAX_COUNT = 200;
/** Bytes at the end of an output file that are read for the last line. */
export const UI_LAST_LINE_BYTES = 2_048;
/** Length of a last line, and of a command, in the list. */
export const UI_LINE_MAX_CHARS = 240;
export const UI_COMMAND_MAX_CHARS = 4_000;
/** Two streams count as written together if their last writes are at most this far apart. */
export const UI_SAME_TIME_MS = 50;
/** Bytes of earlier output that a page gets per stream when it opens a shell. */
export const UI_BACKLOG_BYTES = 128 * 1024;
/**
 * Interval between two pieces of output, and the size of one piece. Output that does not fit is skipped, and the page
 * says so.
 */
export const UI_OUTPUT_INTERVAL_MS = 150;
export const UI_OUTPUT_MAX_CHARS = 64 * 1024;
/** Output held back while it ends inside a private key. Also the longest piece of output from a remote machine. */
export const UI_HELD_MAX_CHARS = 4 * UI_OUTPUT_MAX_CHARS;
/** Poll interval for the screen of a terminal that a page shows. */
export const UI_SCREEN_INTERVAL_MS = 100;
/** Unsent bytes of a stream to a page that does not read. Beyond this, the connection is closed. */
export const UI_UNSENT_MAX_BYTES = 4 * 1024 * 1024;
/** Streams of events that are open at the same time. A tab has at most two. */
export const UI_STREAMS_MAX_COUNT = 64;
/** Size of the body of a request. */
export const UI_BODY_MAX_BYTES = 64 * 1024;
/** Lines of a search. */
export const UI_SEARCH_LINES_COUNT = 500;
/** Random bytes of a token. */
export const UI_TOKEN_BYTES = 24;
/** Rows of one remote machine. That machine may be hostile. */
export const UI_REMOTE_ROWS_MAX_COUNT = 1_000;
/** Number of ids that are kept of rows above this limit, so that the page can count these rows. */
export const UI_REMOTE_HIDDEN_MAX_COUNT = 10_000;
/** Lines, processes and ports in one answer of a remote machine. */
export const UI_REMOTE_LIST_MAX_COUNT = 2_000;
/** Pause between two attempts to reach a remote machine: it doubles from the first to the longest. */
export const UI_REMOTE_RETRY_MIN_MS = 1_000;
export const UI_REMOTE_RETRY_MAX_MS = 30_000;
/** Heartbeats of the connection to a remote machine, and the silence after which it counts as lost. */
export const UI_REMOTE_PING_MS = 3_000;
export const UI_REMOTE_SILENT_MAX_MS = 10_000;
/** How long a remote machine keeps the connection of a silent page. */
export const UI_REMOTE_LINGER_MS = 2_000;
