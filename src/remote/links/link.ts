// A link converts the argument list for the remote end into an argument list of a client program on this machine.

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
