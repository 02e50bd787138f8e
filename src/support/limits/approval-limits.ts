// Limits of approvals/.

/** Time within which a person can answer a request. */
export const APPROVAL_DEADLINE_MS = 10 * 60_000;
/** Poll interval of a call that waits for an answer from another process. */
export const APPROVAL_POLL_MS = 50;
/** Time for which an answered or expired request is kept. A person who answers late can then learn what happened. */
export const APPROVAL_KEPT_MS = 24 * 60 * 60_000;
/** Unanswered requests of one scope. Beyond this number, a command that needs approval is refused. */
export const APPROVALS_OPEN_MAX_COUNT = 100;
/** Random bytes in the id of a request or a remembered answer. */
export const APPROVAL_ID_BYTES = 4;
/** Length of the reason that a person gives. */
export const APPROVAL_REASON_MAX_CHARS = 2_000;
/** Minimum time for a command whose call has waited for an approval. Clients cancel a call after about 60 s. */
export const APPROVED_RUN_MIN_MS = 1_000;
/** How long a remembered answer is valid: by default, and at most. */
export const REMEMBERED_DEFAULT_MS = 8 * 60 * 60_000;
export const REMEMBERED_MAX_MS = 30 * 24 * 60 * 60_000;
