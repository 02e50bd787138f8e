// Limits of policy/. A judgment has a budget of steps: otherwise judging a text could take forever.

/** Steps of one judgment, one or two microseconds each. A flat script of 1 MiB with ordinary lines needs fewer. */
export const POLICY_STEPS_MAX_COUNT = 400_000;
/** Steps for the shortest text. Ordinary commands need a few hundred. */
export const POLICY_STEPS_MIN_COUNT = 24_000;
/** Additional steps per character of the text. */
export const POLICY_STEPS_PER_CHAR_COUNT = 4;
/** Nesting levels of the text and of the texts inside it. */
export const POLICY_DEPTH_MAX_COUNT = 300;
/** Possible values of one variable, directory or word. */
export const POLICY_ALTERNATIVES_MAX_COUNT = 32;
/** Symbolic links followed one after the other. The kernel has the same limit. */
export const POLICY_LINKS_MAX_COUNT = 40;
/** Paths to which one word may lead through links. */
export const POLICY_PLACES_MAX_COUNT = 16;
/** Variables that are tracked. Further variables count as unknown. */
export const POLICY_VARIABLES_MAX_COUNT = 256;
/** Words from one brace expansion. The rest counts as unknown. */
export const POLICY_BRACES_MAX_COUNT = 64;
/** Length of a computed text, for example the output of echo or printf, that the policy reads as code. */
export const POLICY_FOLDED_MAX_CHARS = 256 * 1024;
/** Total length of the arguments that the rules about a program read. Longer arguments need approval. */
export const POLICY_ARGUMENTS_MAX_CHARS = 32 * 1024;
/** Effective commands that are kept for the explanation and for user rules. */
export const POLICY_COMMANDS_MAX_COUNT = 10_000;
/** Program names whose rules are cached. */
export const POLICY_PROGRAMS_MAX_COUNT = 1_000;
/** Findings of one judgment. */
export const POLICY_FINDINGS_MAX_COUNT = 100;
/** Size from which a range of numbers counts as every number, for example every PID. */
export const POLICY_WIDE_RANGE_COUNT = 1_000;
/** Maximum length of the output of a list of commands that is kept. */
export const POLICY_PRINTED_MAX_CHARS = 4_096;
/** Length of a path that is built from variables. */
export const POLICY_PATH_MAX_CHARS = 4_096;
/** Length of an option value that is searched for the path of a file. */
export const POLICY_VALUE_PATH_MAX_CHARS = 512;
/**
 * Length of the start of an argument that is matched against the rows of a rule. This suffices to distinguish an option
 * from other text.
 */
export const POLICY_ROW_ARGUMENT_MAX_CHARS = 512;
/** Length of a value to which a pattern expansion is applied. */
export const POLICY_PATTERN_VALUE_MAX_CHARS = 512;
/** Arithmetic: text that is searched for commands, and expressions that are evaluated. */
export const POLICY_ARITHMETIC_SCANNED_MAX_CHARS = 4_096;
export const POLICY_ARITHMETIC_FOLDED_MAX_CHARS = 64;
/** Length of the start of a text that is searched for a fork bomb without blanks. */
export const POLICY_PACKED_MAX_CHARS = 4_096;
/** Characters in a set of `tr`, and in one of its ranges. */
export const POLICY_TR_SET_MAX_COUNT = 1_024;
export const POLICY_TR_RANGE_MAX_COUNT = 255;
/** Names in a `find` expression. */
export const POLICY_FIND_NAMES_MAX_COUNT = 8;
/** Operands that count as possible values of one word: `for i in a b; do ln -s ~ $i; done`. */
export const POLICY_MADE_NAMES_MAX_COUNT = 8;
/** Depth of names that refer to other names. */
export const POLICY_NAMES_MAX_DEPTH = 8;
/** Code of other languages: renamed functions, string literals of one call, and length of a literal. */
export const POLICY_OWN_NAMES_MAX_COUNT = 16;
export const POLICY_LITERALS_MAX_COUNT = 32;
export const POLICY_LITERAL_MAX_CHARS = 2_048;
/** Passes that fold constants in code of other languages, and the longest code that is folded. */
export const POLICY_CODE_FOLDS_MAX_COUNT = 6;
export const POLICY_CODE_FOLDED_MAX_CHARS = 16 * 1024;
/** Paths in code whose use is unknown. */
export const POLICY_CODE_PATHS_MAX_COUNT = 32;
/**
 * Number of cloned repositories in one command that the policy distinguishes. If there are more, the policy assumes
 * that every tool runs code from one of them.
 */
export const POLICY_FETCHED_MAX_COUNT = 64;
