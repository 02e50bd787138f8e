// What flows between commands: the text where it is certain, and where it came from.

/** Where data came from, as far as it matters to a rule. */
export type DataOrigin =
  | "network"
  | "secret"
  | "endless"
  | "decoded"
  | "shell"
  | "socket"
  /** The processes of the machine, or of a user. */
  | "processes"
  /** A file by its name, given to a program as its input: no less known than one that is named as a script. */
  | "file"
  /** Settings that a well-known tool prints for the shell to read. */
  | "settings";

/** What a command reads or prints: the text where it is certain, and where it came from. */
export interface Flow {
  /** null where it is not known. */
  readonly text: string | null;
  readonly origins: readonly DataOrigin[];
  /** Every text it may be, where there are a few. */
  readonly alternatives?: readonly string[];
  /** Whether anything is at the other end; a command without a pipe reads nothing. */
  readonly connected: boolean;
}

export const NO_ORIGINS: readonly DataOrigin[] = [];

export const NO_FLOW: Flow = { text: "", origins: NO_ORIGINS, connected: false };

export function flowOf(text: string | null, origins: readonly DataOrigin[] = NO_ORIGINS): Flow {
  return { text, origins, connected: true };
}

export function joinOrigins(...all: readonly (readonly DataOrigin[])[]): readonly DataOrigin[] {
  let joined: readonly DataOrigin[] = NO_ORIGINS;
  for (const origins of all) {
    if (origins.length === 0 || origins === joined) continue;
    joined = joined.length === 0 ? origins : [...new Set([...joined, ...origins])];
  }
  return joined;
}
