// Limits of preview/.

/** Bytes on disk that one preview may write, unless the host sets another limit. */
export const PREVIEW_MAX_BYTES = 1024 ** 3;
/** Entries in the workspace that one preview may create, change or delete. */
export const PREVIEW_MAX_ENTRIES_COUNT = 200_000;
/** Interval between two measurements of a running preview, and the time before the first one. */
export const PREVIEW_MEASURE_INTERVAL_MS = 150;
/** Age at which a preview is removed, together with the data to undo its commit. */
export const PREVIEW_MAX_AGE_MS = 7 * 24 * 3600 * 1000;
/** Age at which nacre forgets that a preview existed. */
export const PREVIEW_FORGOTTEN_AFTER_MS = 90 * 24 * 3600 * 1000;
/** Bytes on disk of all previews together. The oldest are removed first. */
export const PREVIEWS_QUOTA_BYTES = 10 * 1024 ** 3;
/** Interval between two sweeps of one process. */
export const PREVIEWS_SWEEP_INTERVAL_MS = 600_000;
/** Paths of each kind in a result for a model, and conflicts in a message. */
export const PREVIEW_PATHS_MAX_COUNT = 200;
export const CONFLICTS_SHOWN_MAX_COUNT = 20;
/** Paths of a preview in an approval request. */
export const PREVIEW_SUMMARY_PATHS_MAX_COUNT = 10;
/** Time for one of the programs that list, copy and compare files: find, tar, diff. */
export const PREVIEW_PROGRAM_MAX_MS = 600_000;
/** Output of one such program. */
export const PREVIEW_PROGRAM_OUTPUT_MAX_BYTES = 256 * 1024 ** 2;
/** Maximum size of one difference, and of all differences in one answer. */
export const PREVIEW_DIFF_MAX_BYTES = 1024 ** 2;
/** Bytes of a file that are compared at a time. */
export const PREVIEW_COMPARE_CHUNK_BYTES = 256 * 1024;
/** Longest wait for another commit or undo in the same workspace, and the poll interval. */
export const PREVIEW_LOCK_MAX_MS = 60_000;
export const PREVIEW_LOCK_POLL_MS = 10;
/** Ids in the message about an unknown preview. */
export const PREVIEW_IDS_SHOWN_MAX_COUNT = 5;
/** Directories whose times one process restores. Each needs an open file descriptor. */
export const DIRECTORY_TIMES_BATCH_COUNT = 200;
/**
 * Time for the search for hard links and files of other users, and the part of this time for which the command
 * waits.
 */
export const WORKSPACE_SURVEY_MAX_MS = 10_000;
export const WORKSPACE_SURVEY_WAIT_MAX_MS = 2_000;
/** Files with several names in the workspace that are copied before the command starts: bytes, and names. */
export const HARD_LINKS_COPY_MAX_BYTES = 64 * 1024 ** 2;
export const HARD_LINKS_COPY_MAX_COUNT = 10_000;

/** A block of a tar archive. */
export const TAR_BLOCK_BYTES = 512;
/** The extended header of one entry. On ext4, an inode has at most 64 KiB of attributes. */
export const TAR_HEADER_MAX_BYTES = 16 * 1024 ** 2;
