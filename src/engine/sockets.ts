// Reads TCP sockets from /proc: the listeners of a port, their network namespace, and the process that holds a socket.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { monotonicMs } from "../support/clock.ts";
import { LISTENERS_MAX_AGE_MS } from "../support/limits.ts";
import { allPids, commandLine, forEachPid } from "./process-table.ts";

/** A row of /proc/PID/net/tcp or tcp6. */
export interface SocketRow {
  readonly localPort: number;
  /** As text, with brackets around an IPv6 address. */
  readonly remote: string;
  readonly isListening: boolean;
  readonly uid: number;
  readonly inode: number;
}

/** The TCP sockets of the network namespace of this process. */
export function socketRows(pid: number | "self"): SocketRow[] {
  return ["tcp", "tcp6"].flatMap((name) => {
    const text = attempt(() => readFileSync(`/proc/${pid}/net/${name}`, "latin1")) ?? "";
    return text.split("\n").slice(1).flatMap(rowOf);
  });
}

let own: { readonly atMs: number; readonly rows: readonly SocketRow[] } | undefined;

/** The sockets that listen on this port in the network namespace of the host. */
export function ownListeners(port: number): SocketRow[] {
  if (!own || monotonicMs() - own.atMs > LISTENERS_MAX_AGE_MS) {
    own = { atMs: monotonicMs(), rows: socketRows("self").filter(({ isListening }) => isListening) };
  }
  return own.rows.filter(({ localPort }) => localPort === port);
}

/** Identifies the network namespace; undefined if it cannot be read. */
export function networkNamespace(pid: number | "self"): string | undefined {
  return attempt(() => readlinkSync(`/proc/${pid}/ns/net`));
}

/** The inodes of the sockets that the process has open; undefined if they cannot be read. */
export function socketInodes(pid: number): Set<number> | undefined {
  const names = attempt(() => readdirSync(`/proc/${pid}/fd`));
  if (names === undefined) return undefined;
  const inodes = new Set<number>();
  for (const name of names) {
    const target = attempt(() => readlinkSync(`/proc/${pid}/fd/${name}`)) ?? "";
    if (target.startsWith("socket:[")) inodes.add(Number(target.slice("socket:[".length, -1)));
  }
  return inodes;
}

/** A process that has one of these sockets open, if this user can see it. */
export async function findHolder(
  rows: readonly SocketRow[],
): Promise<{ readonly pid: number; readonly command: string } | undefined> {
  let holder: number | undefined;
  await forEachPid(allPids(), (pid) => {
    if (holder !== undefined) return;
    const inodes = socketInodes(pid);
    if (inodes && rows.some(({ inode }) => inodes.has(inode))) holder = pid;
  });
  return holder === undefined ? undefined : { pid: holder, command: commandLine(holder) };
}

const LISTEN = "0A";

function rowOf(line: string): SocketRow[] {
  const [, local = "", remote = "", state, , , , uid, , inode] = line.trim().split(/\s+/);
  const localPort = portOf(local);
  if (localPort === undefined) return [];
  return [
    {
      localPort,
      remote: `${addressOf(remote)}:${portOf(remote) ?? 0}`,
      isListening: state === LISTEN,
      uid: Number(uid),
      inode: Number(inode),
    },
  ];
}

function portOf(address: string): number | undefined {
  const hex = /^[0-9A-F]+:([0-9A-F]{4})$/.exec(address)?.[1];
  return hex === undefined ? undefined : Number.parseInt(hex, 16);
}

/** The kernel prints each 32-bit word of an address in the byte order of the machine, which is little-endian. */
function addressOf(address: string): string {
  const [hex = ""] = address.split(":");
  const bytes = [...hex.matchAll(/.{8}/g)].flatMap(([word]) =>
    [6, 4, 2, 0].map((at) => Number.parseInt(word.slice(at, at + 2), 16)),
  );
  if (bytes.length === 4) return bytes.join(".");
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  if (isMapped) return bytes.slice(12).join(".");
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16),
  );
  return `[${groups.join(":")}]`;
}
