// How much the policy knows about an argument that a program may write to, from most to least.

/**
 * "input": the value of an option with a common input name. "familiar": the program is well known, so only system
 * files, credentials and similar paths are protected. "unknown": everything outside the workspace is protected.
 */
export const MAY_WRITE = { input: "input", familiar: "familiar", unknown: "unknown" } as const;
