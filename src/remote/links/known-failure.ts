// A failure that nacre recognizes by the error message of the client program.
import type { Link } from "./link.ts";

export interface KnownFailure {
  readonly pattern: RegExp;
  readonly why: string;
  readonly fix: (link: Link) => string;
  /** True if a retry cannot succeed: the daemon is gone, or this client has no access. */
  readonly isFinal: boolean;
}
