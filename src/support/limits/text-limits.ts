// Limits of text/, environment/ and audit/.

/** Output in one result of the `shells` dialect. */
export const OUTPUT_MAX_CHARS = 30_000;
/**
 * Output in one result of the `modes` dialect, and the size kept at each end of a longer output, which is cut in the
 * middle.
 */
export const SNIP_OVER_BYTES = 128 * 1024;
export const SNIP_KEEP_BYTES = 4 * 1024;
/** Distance that a cut may move to keep a combining sequence whole. */
export const GRAPHEME_SEARCH_MAX_CHARS = 32;
/** Size of the sample that tells binary output from text. */
export const BINARY_SAMPLE_MAX_BYTES = 8 * 1024;
/** Minimum number and share of bytes in a sample that are not text, for the output to count as binary. */
export const BINARY_ODD_MIN_COUNT = 8;
export const BINARY_ODD_MIN_SHARE = 0.1;
/** Length of a signature that is too long to occur by chance in text. */
export const BINARY_SIGNATURE_MIN_BYTES = 4;
/** Share of a text that may be dropped to move a cut to the end of a line. */
export const LINE_CUT_MAX_SHARE = 0.25;
/** Regular expression from a model: length of its source. */
export const PATTERN_MAX_CHARS = 4_000;
/** Size of the compiled regular expression. In the worst case, matching costs this times the length of the line. */
export const PATTERN_MAX_INSTRUCTIONS = 500;

/** The kernel's MAX_ARG_STRLEN: `NAME=value` with its NUL. */
export const ENVIRONMENT_STRING_MAX_BYTES = 128 * 1024;
/** argv and the environment share 2 MiB under the usual 8 MiB stack. This leaves 64 KiB for argv. */
export const ENVIRONMENT_TOTAL_MAX_BYTES = 2 * 1024 * 1024 - 64 * 1024;
/** Shorter values are not redacted: they would match ordinary words. */
export const REDACT_VALUE_MIN_CHARS = 8;
/** A single line of a value is redacted if it has a word of this length. */
export const REDACT_LINE_MIN_CHARS = 16;
/**
 * Maximum number of backslashes in one escape. Each level of quoting doubles the backslashes, so this covers six
 * levels.
 */
export const REDACT_BACKSLASHES_MAX_COUNT = 64;
/** Indentation that a program may add to the lines of a value. */
export const REDACT_INDENT_MAX_CHARS = 16;
/** Length of one escaped character, with its backslashes and indentation. */
export const REDACT_SPELLING_MAX_CHARS = 128;
/** Length of the text before a token that the token's shape may depend on: the name of a header, or an escape. */
export const REDACT_LOOKBEHIND_MAX_CHARS = 64;
/** Maximum length of a token or private key block, and therefore of the text that a redactor holds back. */
export const REDACT_HOLD_MAX_CHARS = 20 * 1024;
/** Length of the last line of a PEM block. */
export const PEM_FOOTER_MAX_CHARS = 64;

/** Size of the first read at the end of an audit log, to find its last line. */
export const AUDIT_TAIL_BYTES = 64 * 1024;
