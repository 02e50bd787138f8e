// A command line that runs at a remote end.

export interface RemoteCommandLine {
  readonly url: string;
  /** The command and its arguments. */
  readonly args: readonly string[];
}
