// Limits of remote/.

/** Interval of heartbeats on a link, in both directions. */
export const REMOTE_PING_MS = 15_000;
/** Silence after which an end of a link treats the link as lost. */
export const REMOTE_SILENT_MAX_MS = 45_000;
/** Time for which the daemon keeps the calls and shells of a client without a link. */
export const REMOTE_LINGER_MS = 600_000;
/** First and longest pause between two attempts to restore a lost link. */
export const REMOTE_RETRY_MIN_MS = 50;
export const REMOTE_RETRY_MAX_MS = 5_000;
/** Time for a link to print the greeting. */
export const REMOTE_GREETING_MAX_MS = 60_000;
/** Time for the client's hello after the greeting. */
export const REMOTE_HELLO_MAX_MS = 30_000;
/** Time for the daemon to end a client that says goodbye. */
export const REMOTE_END_MAX_MS = 10_000;
/** Time for the link's client program to exit after its stdin was closed. */
export const REMOTE_LINK_END_MS = 1_000;
/** Size of one frame. */
export const REMOTE_FRAME_MAX_BYTES = 64 * 1024 * 1024;
/** Received frames and bytes after which an acknowledgement is sent at once, and the longest delay of one. */
export const REMOTE_ACK_FRAMES_COUNT = 16;
export const REMOTE_ACK_BYTES = 512 * 1024;
export const REMOTE_ACK_AFTER_MS = 100;
/** Bytes that a stream may have on the way before its writer waits. */
export const REMOTE_UNACKED_MAX_BYTES = 4 * 1024 * 1024;
/** Output before the greeting that is kept for error messages, per stream. */
export const REMOTE_NOISE_MAX_CHARS = 16 * 1024;
/** Size of one piece of output, before base64. */
export const REMOTE_READ_MAX_BYTES = 1024 * 1024;
/** Output that is sent with the result of a run; the client reads more of it by offset. */
export const REMOTE_INLINE_MAX_BYTES = 64 * 1024;
/** Longest time that one request for output waits for new output. */
export const REMOTE_READ_WAIT_MS = 20_000;
/** Results that the daemon keeps by key, and forgotten keys that it still recognizes. */
export const REMOTE_KEYS_MAX_COUNT = 1_000;
export const REMOTE_KEYS_MAX_BYTES = 64 * 1024 * 1024;
export const REMOTE_FORGOTTEN_KEYS_MAX_COUNT = 100_000;
/** Runs whose output the daemon still knows by key. */
export const REMOTE_RUNS_MAX_COUNT = 1_000;
/** Time without a client after which the daemon exits. */
export const REMOTE_IDLE_EXIT_MS = 10_000;
/** Interval at which the daemon checks whether its socket is still in the state root. */
export const REMOTE_SOCKET_CHECK_MS = 2_000;
/** Time for the relay to reach the daemon, and its intervals between attempts to connect and to start one. */
export const REMOTE_DAEMON_START_MAX_MS = 20_000;
export const REMOTE_DAEMON_POLL_MS = 15;
export const REMOTE_DAEMON_RESTART_MS = 1_000;
/** Time for a push to finish. */
export const REMOTE_PUSH_MAX_MS = 600_000;
/** Free space at the remote end that a push needs besides its own size. */
export const REMOTE_SPACE_SPARE_BYTES = 16 * 1024 * 1024;
/** Length of an operand in a remote URL. */
export const REMOTE_NAME_MAX_CHARS = 255;
/** Deadline of a leased sandbox. */
export const FLEET_DEADLINE_SECONDS = 21_600;
/** Time for a sandbox to become ready, and the interval of questions about it. */
export const FLEET_READY_MAX_MS = 120_000;
export const FLEET_POLL_MS = 200;
