// Data that flows between commands: the text if it is certain, and its origins.

/** The origins of data that matter to a rule. */
export type DataOrigin =
  | "network"
  | "secret"
  | "endless"
  | "decoded"
  | "shell"
  | "socket"
  /** The processes of the machine, or of a user. */
  | "processes"
  /** A file that is redirected to a program: as well known as a script that is named as an argument. */
  | "file"
  /** Settings that a well-known tool prints for the shell to read. */
  | "settings"
  /** The content of local files, the environment, or lists of what is on the machine. */
  | "data"
  /** The same in an encoding that fits into a name or an address. */
  | "packed"
  /** The name of the user. */
  | "identity"
  /** A variable that is named like a credential. */
  | "token";

/** The data that a command reads or prints. */
export interface Flow {
  /** null if unknown. */
  readonly text: string | null;
  readonly origins: readonly DataOrigin[];
  /** Every possible text, if there are a few. */
  readonly alternatives?: readonly string[];
  /** Whether a pipe or file is connected. */
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
