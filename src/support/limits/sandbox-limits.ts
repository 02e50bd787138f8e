// Limits of sandbox/.

/** Symbolic links followed along one path. The kernel has the same limit. */
export const LINKS_MAX_COUNT = 40;
/** Git directories of submodules that are protected. */
export const GIT_MODULES_MAX_COUNT = 256;
/** Number of names above which a directory is listed once, instead of a check for each name. */
export const CREDENTIAL_LISTING_MIN_COUNT = 24;
/** Home directories of other users in which credentials are masked. File permissions also protect them. */
export const OTHER_HOMES_MAX_COUNT = 32;
/** Size of a git configuration and of a git index that is read. */
export const GIT_CONFIG_MAX_BYTES = 1024 * 1024;
export const GIT_INDEX_MAX_BYTES = 32 * 1024 * 1024;
/** Depth of includes in git configuration, as in git itself. */
export const GIT_INCLUDES_MAX_DEPTH = 10;
/** Search for repositories before and after a command: levels below a writable root, and directories in total. */
export const REPOSITORY_SEARCH_MAX_DEPTH = 3;
export const REPOSITORY_SEARCH_MAX_DIRECTORIES = 128;
/** Repositories below a writable root in which commits work. The .git of every further repository is read-only. */
export const NESTED_REPOSITORIES_MAX_COUNT = 32;
/**
 * Minimum age of the last change before a listing is cached. A second change within this time could get the same
 * timestamp.
 */
export const LISTING_SETTLED_MS = 50;
/**
 * Maximum wait for the lock on placeholders, and the poll interval. A live process holds this lock only for
 * milliseconds.
 */
export const PLACEHOLDER_LOCK_MAX_MS = 5_000;
export const PLACEHOLDER_LOCK_POLL_MS = 1;
/** Attempts to set up a sandbox while the state roots of other hosts appear and disappear. */
export const SANDBOX_TRIES_MAX_COUNT = 20;
/** Paths in one remark. */
export const MESSAGE_PATHS_MAX_COUNT = 5;
