// Limits of policy/. A judgement has a budget of steps, so that no text can keep it busy.

/** Steps of one judgement, one or two microseconds each. A flat script of 1 MiB with ordinary lines needs fewer. */
export const POLICY_STEPS_MAX_COUNT = 400_000;
/** Steps for the shortest text. Ordinary commands need a few hundred. */
export const POLICY_STEPS_MIN_COUNT = 24_000;
/** Additional steps per character of the text. */
export const POLICY_STEPS_PER_CHAR_COUNT = 4;
/** Nesting levels of the text and of the texts inside it. */
export const POLICY_DEPTH_MAX_COUNT = 300;
/** Possible values of one variable, directory or word. */
export const POLICY_ALTERNATIVES_MAX_COUNT = 32;
/** Symbolic links followed one after the other, as many as in the kernel. */
export const POLICY_LINKS_MAX_COUNT = 40;
/** Paths to which one word may lead through links. */
export const POLICY_PLACES_MAX_COUNT = 16;
/** Variables that are tracked. Further ones count as unknown. */
export const POLICY_VARIABLES_MAX_COUNT = 256;
/** Words from one brace expansion. The rest counts as unknown. */
export const POLICY_BRACES_MAX_COUNT = 64;
/** Text that is evaluated through echo, printf and similar commands, and read as a script again. */
export const POLICY_FOLDED_MAX_CHARS = 256 * 1024;
/** Arguments of one command that the rules about its program read. Longer arguments need approval. */
export const POLICY_ARGUMENTS_MAX_CHARS = 32 * 1024;
/** Effective commands that are kept for the explanation and for user rules. */
export const POLICY_COMMANDS_MAX_COUNT = 10_000;
/** Program names whose rules are cached. */
export const POLICY_PROGRAMS_MAX_COUNT = 1_000;
/** Findings of one judgement. */
export const POLICY_FINDINGS_MAX_COUNT = 100;
