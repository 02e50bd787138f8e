// Data that flows between commands: the text if it is certain, and its origins.

/** The origins of data that matter to a rule. */
export type DataOrigin =
  | "network"
  | "secret"
  | "endless"
  | "decoded"
  | "shell"
  | "socket"
  /** A list of all processes of the machine, or of a user. */
  | "processes"
  /** A local file on a program's stdin. The policy judges it like a script in the program's arguments. */
  | "file"
  /** Settings for the shell, printed by a well-known tool. */
  | "settings"
  /** The content of local files, the environment, or lists of files, processes and the like. */
  | "data"
  /** Local data, encoded so that it fits into a host name or a URL. */
  | "packed"
  /** The name of the user. */
  | "identity"
  /** The value of a variable with a name like that of a credential, such as API_TOKEN. */
  | "token";

/** The data that a command reads or prints. */
export interface Flow {
  /** The data as text; null if unknown. */
  readonly text: string | null;
  readonly origins: readonly DataOrigin[];
  /** All possible texts, if there are only a few. */
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
