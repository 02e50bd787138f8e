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
/**
 * Lifetime after which a restored link counts as stable. When a stable link is lost, the first retry comes without a
 * pause.
 */
export const REMOTE_STEADY_MS = 1_000;
/**
 * Maximum time for a link to print the greeting, and the same time again for the daemon to answer the client's hello.
 */
export const REMOTE_CONNECT_MAX_MS = 60_000;
/** Time for the client's hello after the greeting. */
export const REMOTE_HELLO_MAX_MS = 30_000;
/**
 * Number of consecutive links that end because the remote end broke the protocol, after which the remote end counts as
 * lost.
 */
export const REMOTE_VIOLATIONS_MAX_COUNT = 5;
/**
 * Maximum wait for the answer to a cancelled request. This is longer than the time to detect and restore a silent link.
 */
export const REMOTE_CANCEL_MAX_MS = 120_000;
/** Time for the remote end to confirm a signal. After that, another signal ends the client without the remote end. */
export const REMOTE_SIGNAL_MAX_MS = 1_000;
/** Time after which the client reports a lost link. The client does not report shorter interruptions. */
export const REMOTE_LOSS_NOTICE_MS = 1_000;
/** Time for the daemon to end a client that says goodbye. */
export const REMOTE_END_MAX_MS = 10_000;
/** Time for the link's client program to exit after its stdin was closed. */
export const REMOTE_LINK_END_MS = 1_000;
/** Size of one frame. */
export const REMOTE_FRAME_MAX_BYTES = 64 * 1024 * 1024;
/** Pieces of an unfinished frame that are kept before they are joined. */
export const REMOTE_FRAME_PARTS_MAX_COUNT = 4_096;
/** Received frames and bytes after which an acknowledgement is sent at once, and its longest delay. */
export const REMOTE_ACK_FRAMES_COUNT = 16;
export const REMOTE_ACK_BYTES = 512 * 1024;
export const REMOTE_ACK_AFTER_MS = 100;
/** Bytes that a stream may have in flight before its writer waits. */
export const REMOTE_UNACKED_MAX_BYTES = 4 * 1024 * 1024;
/**
 * Bytes that wait at one end for the peer's acknowledgement. More are refused: otherwise a peer could fill the memory.
 */
export const REMOTE_BACKLOG_MAX_BYTES = 128 * 1024 * 1024;
/** Output of a command line that the reader of the client's stdout has not read yet. */
export const REMOTE_UNWRITTEN_MAX_BYTES = 4 * 1024 * 1024;
/**
 * Unwritten output, of both streams together, after which the client leaves the remote end. A remote end that waits for
 * the client sends much less.
 */
export const REMOTE_FLOOD_MAX_BYTES = 16 * 1024 * 1024;
/** Output before the greeting, per stream: the length kept for error messages, and the maximum that is read. */
export const REMOTE_NOISE_MAX_CHARS = 16 * 1024;
export const REMOTE_BEFORE_GREETING_MAX_BYTES = 16 * 1024 * 1024;
/** Length of the excerpt that an error quotes from the output of a client program. */
export const PRINTED_EXCERPT_MAX_CHARS = 320;
/** Size of one piece of output, before base64. */
export const REMOTE_READ_MAX_BYTES = 1024 * 1024;
/** Output that is sent with the result of a run; the client reads more of it by offset. */
export const REMOTE_INLINE_MAX_BYTES = 64 * 1024;
/** Longest time that one request for output waits for new output. */
export const REMOTE_READ_WAIT_MS = 20_000;
/**
 * Number and size of the results that the daemon keeps by key, and number of forgotten keys that it still recognizes.
 */
export const REMOTE_KEYS_MAX_COUNT = 1_000;
export const REMOTE_KEYS_MAX_BYTES = 64 * 1024 * 1024;
export const REMOTE_FORGOTTEN_KEYS_MAX_COUNT = 100_000;
/** Ended shells that a client lists, in addition to those that run. */
export const REMOTE_LISTED_SHELLS_MAX_COUNT = 1_000;
/** Runs whose output the daemon still finds by key. */
export const REMOTE_RUNS_MAX_COUNT = 1_000;
/** Time without a client after which the daemon exits. */
export const REMOTE_IDLE_EXIT_MS = 10_000;
/** Interval at which the daemon checks whether its socket is still in the state root. */
export const REMOTE_SOCKET_CHECK_MS = 2_000;
/** Time for the relay to reach the daemon, and its intervals between attempts to connect and to start one. */
export const REMOTE_DAEMON_START_MAX_MS = 50_000;
export const REMOTE_DAEMON_POLL_MS = 15;
export const REMOTE_DAEMON_RESTART_MS = 1_000;
/** Time for a push to finish. */
export const REMOTE_PUSH_MAX_MS = 600_000;
/** Free space at the remote end that a push needs in addition to its own size. */
export const REMOTE_SPACE_SPARE_BYTES = 16 * 1024 * 1024;
/** Length of an operand in a remote URL. */
export const REMOTE_NAME_MAX_CHARS = 255;
/** Deadline of a leased sandbox. */
export const FLEET_DEADLINE_SECONDS = 21_600;
/** Sandboxes of a fleet that nacre connects to at the same time. While the others wait, their deadlines already run. */
export const FLEET_CONNECTS_MAX_COUNT = 4;
/**
 * The CPU request of a pod whose template contains none: without a request, the pod gets almost no CPU time on a busy
 * node.
 */
export const FLEET_CPU_REQUEST_MILLICORES_COUNT = 100;
/** Time for an engine to list a sandbox as ended after its deadline. */
export const FLEET_END_MAX_MS = 5_000;
/** Time for a sandbox to become ready, and the first and the longest poll interval. */
export const FLEET_READY_MAX_MS = 120_000;
export const FLEET_POLL_MS = 200;
export const FLEET_POLL_MAX_MS = 2_000;
/** Time for a program of a fleet's engine to end. */
export const FLEET_ANSWER_MAX_MS = 120_000;
