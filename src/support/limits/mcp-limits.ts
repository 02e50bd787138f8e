// Limits of mcp/.

/** Time after which a call returns while its command continues. Clients cancel a call at about 60 s. */
export const MCP_RETURN_AFTER_MS = 50_000;
/** Delay before the server starts the keeper and loads the policy, if no call comes earlier. */
export const MCP_PREPARE_AFTER_MS = 50;
/** Size of a message. The server answers a larger message with an error. */
export const MCP_MESSAGE_MAX_BYTES = 16 * 1024 * 1024;
/** Maximum length of an id or member name that is read from an oversized message. */
export const MCP_ID_MAX_BYTES = 1_024;
/** Size of one write to a client. */
export const MCP_WRITE_MAX_BYTES = 16 * 1024;
/** At the end of a connection: how long the client may read nothing before unread data is dropped. */
export const MCP_UNREAD_MAX_MS = 600;
/** Part of an oversized HTTP message that is read and dropped, so that its sender can read the refusal. */
export const MCP_HTTP_DISCARD_MAX_BYTES = 128 * 1024 * 1024;
/** Time for running calls to be answered after the client closed its side. */
export const MCP_DRAIN_MAX_MS = 400;
/** At the end of a connection: time between SIGTERM and SIGKILL, and time for calls to return. */
export const MCP_END_GRACE_MS = 250;
export const MCP_END_MAX_MS = 5_000;
/** Shortest interval between two notifications about changed output. */
export const MCP_WATCH_INTERVAL_MS = 250;
/** Length of the command in the title of a resource. */
export const RESOURCE_TITLE_MAX_CHARS = 120;
/** HTTP connections of older protocol versions: their number, and the idle time after which one is closed. */
export const MCP_HTTP_SESSIONS_MAX_COUNT = 256;
export const MCP_HTTP_SESSION_IDLE_MS = 30 * 60_000;
/** Token for HTTP clients: shortest accepted length, random bytes of a new token, characters of its digest. */
export const MCP_TOKEN_MIN_CHARS = 16;
export const MCP_TOKEN_BYTES = 24;
export const MCP_TOKEN_DIGEST_CHARS = 16;
/** Unanswered questions to a person. Beyond this number, the oldest questions are dropped and count as refused. */
export const MCP_QUESTIONS_MAX_COUNT = 100;
/**
 * Time by which the timeout of a question to a client exceeds the deadline of the approval request, because the
 * deadline must end the question first.
 */
export const MCP_QUESTION_GRACE_MS = 5_000;
/** Time until a result over HTTP counts as delivered. */
export const MCP_DELIVERY_MS = 200;
