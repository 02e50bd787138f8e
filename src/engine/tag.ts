// Tags: numbers that every descendant of a shell has as its hard limit on file locks (RLIMIT_LOCKS: without effect
// since Linux 2.4.25, inherited, readable in /proc/PID/limits).
//
// A process can only lower its limit, so nacre inside nacre uses the bits below the tag that it inherited:
//
//   bit 62      61..52   51..38    37..32   31..18    17..14   13..0
//   marker 1    host 1   shell 1   host 2   shell 2   host 3   shell 3
//
// In a tag, all fields below the tag's own fields contain only ones. In the tag of a keeper, its shims and its
// loggers, the shell field also contains only ones, so no shell gets that number. No host gets a number of only ones.
// The host number is random and short: a second limit, the key, tells hosts with the same number apart (host-key.ts).

import { type HostKey, isForeign, keyAt, keyWithin } from "./host-key.ts";
import type { TagLimits } from "./process-table.ts";

interface Level {
  /** Bits below the host field. */
  readonly hostShift: number;
  readonly hostBits: number;
  /** Bits below the shell field. */
  readonly shellShift: number;
}

const MARKER = 1n << 62n;
const SHELL_BITS = 14;
const LEVELS: readonly Level[] = [
  { hostShift: 52, hostBits: 10, shellShift: 38 },
  { hostShift: 32, hostBits: 6, shellShift: 18 },
  { hostShift: 14, hostBits: 4, shellShift: 0 },
];

/** How many shells of one host can be distinguished at a time. */
export const SHELL_NUMBERS = (1 << SHELL_BITS) - 1;

/** The tags that one host can assign, below its own tag. */
export class TagSpace {
  /** undefined if the host cannot have a key: then no other host may have its number. */
  readonly key: HostKey | undefined;
  readonly #base: bigint;
  readonly #level: Level;
  readonly #host: bigint;

  private constructor(base: bigint, level: Level, host: bigint, key?: HostKey) {
    this.#base = base;
    this.#level = level;
    this.#host = host;
    this.key = key;
  }

  /**
   * A space for a host whose own hard limit is `own` ("unlimited" or a number), with a number drawn
   * from `random` (0..1). undefined if no bits are left, or the limit is not a tag.
   */
  static within(own: string, random: number): TagSpace | undefined {
    const found = levelBelow(own);
    if (!found) return undefined;
    const hosts = (1 << found.level.hostBits) - 1;
    return new TagSpace(found.base, found.level, BigInt(Math.floor(random * hosts) % hosts));
  }

  /** The same space with a key below `own`, the host's hard limit on resident memory. */
  withKey(own: string, random: number): TagSpace {
    const key = keyWithin(own, LEVELS.indexOf(this.#level), random);
    return new TagSpace(this.#base, this.#level, this.#host, key);
  }

  /** The tag of the keeper, its shims and its loggers. */
  get keeperTag(): bigint {
    return this.#base | (this.#host << BigInt(this.#level.hostShift)) | ones(this.#level.hostShift);
  }

  get hostShift(): number {
    return this.#level.hostShift;
  }

  shellTag(number: number): bigint {
    const { hostShift, shellShift } = this.#level;
    return (
      this.#base |
      (this.#host << BigInt(hostShift)) |
      (BigInt(number) << BigInt(shellShift)) |
      ones(shellShift)
    );
  }

  /** The shell that a process belongs to, if it is a shell of this host. */
  numberOf({ tag, key }: TagLimits): number | undefined {
    if (!/^\d+$/.test(tag) || isForeign(key, this.key)) return undefined;
    return this.shellNumber(BigInt(tag));
  }

  /** The shell that a tag belongs to, directly or through a nacre inside it; undefined for other hosts and keepers. */
  shellNumber(tag: bigint): number | undefined {
    const { hostShift, shellShift } = this.#level;
    if (tag >> BigInt(hostShift) !== this.keeperTag >> BigInt(hostShift)) return undefined;
    const number = Number((tag >> BigInt(shellShift)) & ones(SHELL_BITS));
    return number === SHELL_NUMBERS ? undefined : number;
  }
}

/** A process belongs to the shell, directly or through a nacre inside it, if its tag >> shift equals the prefix. */
export interface TagReach {
  readonly shift: bigint;
  readonly prefix: bigint;
}

/** The key of the host that assigned a tag, as the identity of a shell records it. */
export function keyOf(tag: bigint, kib: bigint): HostKey | undefined {
  return keyAt(kib, levelOf(tag));
}

/** Works for the tags of every host. */
export function reachOf(tag: bigint): TagReach {
  const shift = BigInt(LEVELS[levelOf(tag)]?.shellShift ?? 0);
  return { shift, prefix: tag >> shift };
}

/** The last level has no bits below it, so every tag matches at least this level. */
function levelOf(tag: bigint): number {
  return LEVELS.findIndex(({ shellShift }) => (tag & ones(shellShift)) === ones(shellShift));
}

/** The prefix of the keeper, shims and loggers of the host that assigned a tag. */
export function keeperPrefixOf(tag: bigint): bigint {
  return reachOf(tag).prefix | ones(SHELL_BITS);
}

function levelBelow(own: string): { base: bigint; level: Level } | undefined {
  const [outermost] = LEVELS;
  if (own === "unlimited") return outermost && { base: MARKER, level: outermost };
  if (!/^\d+$/.test(own)) return undefined;
  const tag = BigInt(own);
  if (tag >> 62n !== 1n) return undefined;
  for (const [index, level] of LEVELS.entries()) {
    const inner = LEVELS[index + 1];
    if (inner && (tag & ones(level.shellShift)) === ones(level.shellShift)) {
      return { base: tag & ~ones(level.shellShift), level: inner };
    }
  }
  return undefined;
}

function ones(bits: number): bigint {
  return (1n << BigInt(bits)) - 1n;
}
