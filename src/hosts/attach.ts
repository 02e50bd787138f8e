// Finds a shell again that is on disk: who runs it, and whether that can be seen from here at all.
import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { readIdentity, type ShellIdentity } from "../spool/identity.ts";
import type { SpoolRoot } from "../spool/layout.ts";
import { readMeta } from "../spool/meta.ts";
import type { Presence } from "../spool/sweep.ts";
import { attempt } from "../support/attempt.ts";
import type { Origin, Progress, StartedShell } from "./host.ts";
import { NO_PIDS } from "./pids-since.ts";
import { bootId, isSameProcess, pidNamespace, readStat } from "./process-table.ts";

const UNSEEN: Readonly<Record<Exclude<Origin, "here">, string>> = {
  "another boot": "the machine has been restarted since",
  "another namespace": "it was started in another pid namespace",
  unknown: "nothing tells which process ran it",
};

export function readStartedShell(root: SpoolRoot, id: string): StartedShell | undefined {
  const files = root.files(id);
  const meta = readMeta(files.meta);
  if (!meta || meta.id !== id) return undefined;
  const identity = readIdentity(files.identity);
  const origin = originOf(identity);
  const { output } = meta;
  const moved = output && {
    stdout: join(files.dir, output.stdout.file),
    stderr: join(files.dir, output.stderr.file),
  };
  return {
    id,
    files: { ...files, ...moved },
    meta,
    shimPid: identity?.shimPid ?? 0,
    shimStart: identity?.shimStart ?? "",
    commandPid: identity?.commandPid ?? 0,
    commandStart: identity?.commandStart ?? "",
    ...(identity && meta.confinement?.driver === "bubblewrap"
      ? { sandbox: { pid: identity.commandPid, startTime: identity.commandStart } }
      : {}),
    tag: identity && identity.tag !== "-" ? BigInt(identity.tag) : undefined,
    pidsBefore: NO_PIDS,
    attached: true,
    origin,
    ...(origin === "here" ? {} : { unseen: UNSEEN[origin] }),
  };
}

export function presenceOf(identity: ShellIdentity): Presence {
  const origin = originOf(identity);
  if (origin === "another namespace") return "unknown";
  return origin === "here" && isSameProcess(identity.shimPid, identity.shimStart) ? "alive" : "gone";
}

/** A pid means something only in the boot and the namespace it was given in. */
function originOf(identity: ShellIdentity | undefined): Origin {
  if (!identity) return "unknown";
  if (identity.bootId !== bootId()) return "another boot";
  return identity.pidNamespace === pidNamespace() ? "here" : "another namespace";
}

const JOB_FIFO = /\/keepers\/[^/]+\/go\d+(?: \(deleted\))?$/;

/** Its bash holds the fifo open that its job comes through (shim.sh, hook.sh) until it has read all of it. */
export function progressOf({
  commandPid,
  commandStart,
}: Pick<StartedShell, "commandPid" | "commandStart">): Progress {
  const stat = readStat(commandPid);
  if (stat?.startTime !== commandStart) return "begun";
  if (jobFifoOf(commandPid) === undefined) return "begun";
  if (stat.state !== "S") return "unclear";
  // Asleep in a read of the fifo: a job that was sent would have woken it. Not everybody may look at this.
  const call = attempt(() => readFileSync(`/proc/${commandPid}/syscall`, "latin1"));
  return call === undefined || /^(?:0|63) 0x6 /.test(call) ? "waiting" : "unclear";
}

/** The fifo this bash waits at, or has not closed yet. */
export function jobFifoOf(commandPid: number): string | undefined {
  const path = attempt(() => readlinkSync(`/proc/${commandPid}/fd/6`));
  return path !== undefined && JOB_FIFO.test(path) ? path : undefined;
}
