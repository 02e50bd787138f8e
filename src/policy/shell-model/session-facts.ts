// The state of a session's bash that changes the meaning of its next command.

/** The caller reads these facts from the session's bash. A command outside a session has no such facts. */
export interface SessionFacts {
  /** Names of the functions that are defined. */
  readonly functions: readonly string[];
  /** Name and text of every alias. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Commands whose path was set by `hash -p` or by an earlier lookup: name and path. */
  readonly hashed: Readonly<Record<string, string>>;
  /** The values of HOME PWD OLDPWD CDPATH IFS PATH TMPDIR GLOBIGNORE ENV BASH_ENV; null if unset. */
  readonly variables: Readonly<Record<string, string | null>>;
  /** The names in BASHOPTS. */
  readonly shellOptions: readonly string[];
}
