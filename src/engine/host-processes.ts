// Whether any command of this host has left a process. Reads only processes that are younger than the host's first
// keeper: no older process can have a tag of this host.
import { keeperDirOfWaitingBash } from "./attach.ts";
import { sampleNewest } from "./newest-processes.ts";
import { isNoneSince, markPids, type PidMark, pidsSince } from "./pids-since.ts";
import { forEachPid, isEnding } from "./process-table.ts";
import type { TagSpace } from "./tag.ts";
import { tagNumberOf } from "./tag-numbers.ts";

export interface HostProcesses {
  readonly space: TagSpace;
  /** Recorded before the first keeper of the host started. */
  readonly pidsBefore: PidMark;
  /** The tag numbers of shells that outlive the host. */
  readonly durable: ReadonlySet<number | undefined>;
}

/**
 * Returns true only if it is certain that no process is left. A slot without a job does not count, because the keeper
 * ends it.
 */
export async function hasNoProcess({ space, pidsBefore, durable }: HostProcesses): Promise<boolean> {
  const isOfCommand = (pid: number) => {
    const number = tagNumberOf(pid, space);
    return (
      number !== undefined &&
      !durable.has(number) &&
      !isEnding(pid) &&
      keeperDirOfWaitingBash(pid) === undefined
    );
  };
  const before = markPids();
  let isLeft = false;
  await forEachPid(pidsSince(pidsBefore), (pid) => {
    isLeft ||= isOfCommand(pid);
  });
  if (isLeft || isNoneSince(before)) return !isLeft;
  // The kernel has assigned PIDs during the scan. So a chain in which each process forks one child and exits may have
  // escaped it.
  sampleNewest(
    (pid) => isOfCommand(pid) || undefined,
    () => {
      isLeft = true;
    },
  );
  return !isLeft;
}
