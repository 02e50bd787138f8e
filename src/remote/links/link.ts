// A link turns the argument list of the remote end into the argument list of the user's own client program.

export type LinkKind = "ssh" | "docker" | "podman" | "kubernetes" | "slurm" | "command";

export interface Link {
  readonly kind: LinkKind;
  /** The URL, for messages. */
  readonly url: string;
  /** The client program, found on PATH. */
  readonly program: string;
  /** The directory at the remote end. @default the directory that the client program chooses */
  readonly cwd: string | undefined;
  /** The local argument list that runs `remote` at the remote end. */
  argv(remote: readonly string[]): readonly string[];
}

/** The parts of a URL, decoded. */
export interface UrlParts {
  readonly url: string;
  /** The text between `scheme://` and `?`. */
  readonly rest: string;
  readonly query: ReadonlyMap<string, string>;
}
