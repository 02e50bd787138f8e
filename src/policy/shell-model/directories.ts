// The directories that the shell may be in. After `cd x;` the list continues in x or, if `cd` failed, in the old
// directory. After `cd x &&` it continues only in x.

import { POLICY_ALTERNATIVES_MAX_COUNT } from "../../support/limits.ts";
import { UNKNOWN } from "./marks.ts";

export class Directories {
  /** Every directory that the shell may be in if the last command succeeded. */
  readonly now: readonly string[];
  /** Every directory that the shell may be in if the last command failed; null if these are the same as `now`. */
  readonly ifFailed: readonly string[] | null;

  constructor(now: readonly string[], ifFailed: readonly string[] | null = null) {
    this.now = now;
    this.ifFailed = ifFailed;
  }

  /** After a command that tries to change to one of the targets. */
  tried(targets: readonly string[]): Directories {
    return new Directories(targets, this.now);
  }

  succeeded(): Directories {
    return this.ifFailed === null ? this : new Directories(this.now);
  }

  failed(): Directories {
    return this.ifFailed === null ? this : new Directories(this.ifFailed);
  }

  /** After `!`, which inverts the exit status. */
  negated(): Directories {
    return this.ifFailed === null ? this : new Directories(this.ifFailed, this.now);
  }

  /** After a command that may have succeeded or failed. */
  either(): Directories {
    return this.ifFailed === null ? this : new Directories(union(this.now, this.ifFailed));
  }

  with(other: Directories): Directories {
    if (other === this) return this;
    const ifFailed = union(this.ifFailed ?? this.now, other.ifFailed ?? other.now);
    const now = union(this.now, other.now);
    return this.ifFailed === null && other.ifFailed === null
      ? new Directories(now)
      : new Directories(now, ifFailed);
  }
}

export function union(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a === b) return a;
  const all = [...new Set([...a, ...b])];
  if (all.length <= POLICY_ALTERNATIVES_MAX_COUNT) return all;
  return [...all.slice(0, POLICY_ALTERNATIVES_MAX_COUNT), UNKNOWN];
}
