// How well an argument is known that may be written, from the best known to the least.

/**
 * "input": an option with the usual name of an input. "familiar": only files of the machine, credentials and the like count.
 * "unknown": everything outside the workspace counts.
 */
export const MAY_WRITE = { input: "input", familiar: "familiar", unknown: "unknown" } as const;
