// A failure of a client program that nacre recognizes by the program's own words.
import type { Link } from "./link.ts";

export interface KnownFailure {
  readonly pattern: RegExp;
  readonly why: string;
  readonly fix: (link: Link) => string;
  /** True if a retry cannot help: the daemon is gone, or this client has no access. */
  readonly isFinal: boolean;
}
