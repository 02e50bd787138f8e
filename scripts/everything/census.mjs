// Finds what the soak has left on this machine: processes, zombies, mounts, sockets and files.
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";

/** The bits of RLIMIT_LOCKS that all processes of one host share (src/engine/tag.ts); undefined without a tag. */
export function hostTag(pid) {
  const limit = /^Max file locks +\S+ +(\d+)/m.exec(textOf(`/proc/${pid}/limits`))?.[1];
  return limit === undefined ? undefined : String(BigInt(limit) >> 52n);
}

/** Live processes that have one of these tags, name a path in the folder, run in it, or have a file in it open. */
export function processesOf(folder, tags) {
  return pids()
    .filter((pid) => pid !== process.pid && stateOf(pid) !== "Z")
    .filter((pid) => tags.has(hostTag(pid)) || isTouching(pid, folder))
    .map((pid) => `${pid} ${commandOf(pid)}`);
}

/** Zombies among the descendants of a process. */
export function zombiesBelow(ancestor) {
  return pids().filter((pid) => stateOf(pid) === "Z" && isBelow(pid, ancestor));
}

export function childrenOf(pid) {
  return textOf(`/proc/${pid}/task/${pid}/children`).trim().split(" ").filter(Boolean).map(Number);
}

export function commandOf(pid) {
  return textOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
}

/** The start time as nacre's locks contain it; undefined if there is no such process. */
export function startTimeOf(pid) {
  return fieldsOf(pid)[19];
}

export function mountsBelow(folder) {
  return textOf("/proc/self/mountinfo")
    .split("\n")
    .filter((line) => line.includes(folder));
}

/** Everything below a folder, with its size and the space that it takes on the disk. */
export function filesBelow(folder) {
  const entries = attempt(() => readdirSync(folder, { recursive: true, withFileTypes: true })) ?? [];
  return entries.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const stat = entry.isFile() ? attempt(() => statSync(path)) : undefined;
    const [bytes, diskBytes] = [stat?.size ?? 0, (stat?.blocks ?? 0) * 512];
    return { path, bytes, diskBytes, isSocket: entry.isSocket(), isDirectory: entry.isDirectory() };
  });
}

/** Whether the daemon of this socket was killed: it cannot remove its socket then, and the next daemon replaces it. */
export function isStaleSocket(path) {
  const holder = attempt(() => readlinkSync(path.replace(/\.sock$/, ".lock")));
  const [pid, startTime] = holder?.split("-") ?? [];
  return pid !== undefined && startTimeOf(pid) !== startTime;
}

function pids() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function isTouching(pid, folder) {
  if (commandOf(pid).includes(folder)) return true;
  const fds = attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  const links = [`/proc/${pid}/cwd`, ...fds.map((fd) => `/proc/${pid}/fd/${fd}`)];
  return links.some((link) => attempt(() => readlinkSync(link))?.startsWith(folder));
}

function isBelow(pid, ancestor) {
  for (let at = pid; at > 1; at = parentOf(at)) if (at === ancestor) return true;
  return false;
}

function stateOf(pid) {
  return fieldsOf(pid)[0];
}

function parentOf(pid) {
  return Number(fieldsOf(pid)[1] ?? 0);
}

function fieldsOf(pid) {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function textOf(path) {
  return attempt(() => readFileSync(path, "latin1")) ?? "";
}

function attempt(get) {
  try {
    return get();
  } catch {
    return undefined;
  }
}
