// The key of a host: a random number that every process of the host inherits as its hard limit on resident memory
// (RLIMIT_RSS: without effect since Linux 2.4.30, inherited, readable in /proc/PID/limits). Two hosts can draw the same
// host number for their tags (tag.ts); their keys tell their processes apart. Without a key, a host must first check the
// number of every process on the machine.
//
// bash sets this limit in KiB. A nacre inside nacre uses the bits below the key that it inherited:
//
//   bit 51      50..34   33..17   16..0
//   marker 1    key 1    key 2    key 3
//
// In a key, all fields below the key's own field contain only ones.

const UNIT_BYTES = 1024n;
const MARKER_BIT = 51n;
const KEY_BITS = 17n;
const SHIFTS = [34n, 17n, 0n] as const;

export interface HostKey {
  /** The limit in KiB. */
  readonly kib: bigint;
  /** The number of bits below the key. Limits that are equal above these bits belong to the same host. */
  readonly shift: bigint;
}

/**
 * A key for a host whose own hard limit on resident memory is `own`. undefined if an administrator or a command has
 * set this limit, because no bits are then free for a key.
 */
export function keyWithin(own: string, level: number, random: number): HostKey | undefined {
  const shift = SHIFTS[level];
  const outer = own === "unlimited" ? (1n << (MARKER_BIT + 1n)) - 1n : kibOf(own);
  if (shift === undefined || outer === undefined) return undefined;
  const above = shift + KEY_BITS;
  const drawn = BigInt(Math.floor(random * Number(1n << KEY_BITS))) & ((1n << KEY_BITS) - 1n);
  return { kib: ((outer >> above) << above) | (drawn << shift) | ((1n << shift) - 1n), shift };
}

/** Rebuilds a key from the number in the identity file of a shell. */
export function keyAt(kib: bigint, level: number): HostKey | undefined {
  const shift = SHIFTS[level];
  return shift === undefined ? undefined : { kib, shift };
}

/** Whether a process with this limit on resident memory certainly belongs to another host. */
export function isForeign(limit: string, key: HostKey | undefined): boolean {
  if (key === undefined) return false;
  const kib = kibOf(limit);
  // A command can set the limit for itself and its children. nacre still finds these processes by their tag.
  return kib !== undefined && kib >> key.shift !== key.kib >> key.shift;
}

/** undefined if the limit is not a key. */
function kibOf(limit: string): bigint | undefined {
  if (!/^\d+$/.test(limit)) return undefined;
  const bytes = BigInt(limit);
  const kib = bytes / UNIT_BYTES;
  return bytes % UNIT_BYTES === 0n && kib >> MARKER_BIT === 1n ? kib : undefined;
}
