// Reads a shell back from disk: its processes, and whether this process can see them.
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { readIdentity, type ShellIdentity } from "./identity.ts";
import { hookOf } from "./keeper-scripts.ts";
import { readMeta } from "./meta.ts";
import { NO_PIDS } from "./pids-since.ts";
import { JOB_FD, pipePath } from "./process-pipe.ts";
import { bootId, isSameProcess, pidNamespace, readStat } from "./process-table.ts";
import type { Origin, StartedShell } from "./started-shell.ts";
import type { StateRoot } from "./state-dir.ts";
import type { Presence } from "./sweep.ts";
import { keyOf } from "./tag.ts";

const UNSEEN: Readonly<Record<Exclude<Origin, "here">, string>> = {
  "another boot": "the machine has been restarted since",
  "another namespace": "it was started in another pid namespace",
  unknown: "its identity file is missing or unreadable",
};

export function readStartedShell(root: StateRoot, id: string): StartedShell | undefined {
  const files = root.files(id);
  const meta = readMeta(files.meta);
  if (!meta || meta.id !== id) return undefined;
  const identity = readIdentity(files.identity);
  const origin = originOf(identity);
  const tag = identity && identity.tag !== "-" ? BigInt(identity.tag) : undefined;
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
    tag,
    key: tag !== undefined && identity?.key !== undefined ? keyOf(tag, BigInt(identity.key)) : undefined,
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

/** A PID is valid only in the boot and the PID namespace in which the kernel assigned it. */
function originOf(identity: ShellIdentity | undefined): Origin {
  if (!identity) return "unknown";
  if (identity.bootId !== bootId()) return "another boot";
  return identity.pidNamespace === pidNamespace() ? "here" : "another namespace";
}

/** "unclear": the shell is about to wait, or about to begin. */
export type Progress = "waiting" | "unclear" | "begun";

/** Whether the shell's bash has received its job. */
export function progressOf({
  commandPid,
  commandStart,
}: Pick<StartedShell, "commandPid" | "commandStart">): Progress {
  const stat = readStat(commandPid);
  if (stat?.startTime !== commandStart) return "begun";
  if (keeperDirOfWaitingBash(commandPid) === undefined) return "begun";
  if (stat.state !== "S") return "unclear";
  // A waiting bash sleeps in read() of the job pipe (fd 6; read is system call 0 on x86-64, 63 on arm64). A job would
  // have woken it. If this user may not read the file `syscall`, assume that bash waits.
  const call = attempt(() => readFileSync(`/proc/${commandPid}/syscall`, "latin1"));
  return call === undefined || /^(?:0|63) 0x6 /.test(call) ? "waiting" : "unclear";
}

/**
 * The directory of the keeper that started this waiting bash; undefined if the process is not a waiting bash. A waiting
 * bash was started with that keeper's hook.sh, has the job pipe, and has not opened its script, which bash opens as
 * fd 255. The same test is in host-gone.sh.
 */
export function keeperDirOfWaitingBash(commandPid: number): string | undefined {
  const pipe = attempt(() => readlinkSync(pipePath(commandPid, JOB_FD)));
  if (!pipe?.startsWith("pipe:") || existsSync(`/proc/${commandPid}/fd/255`)) return undefined;
  const environment = attempt(() => readFileSync(`/proc/${commandPid}/environ`, "utf8"))?.split("\0") ?? [];
  const bashEnv = environment.find((pair) => pair.startsWith("BASH_ENV="))?.slice("BASH_ENV=".length) ?? "";
  // keeper.sh has escaped the characters that bash would expand.
  const hook = bashEnv.replaceAll(/\\([\\$`])/g, "$1");
  const keeperDir = dirname(dirname(hook));
  return hookOf(keeperDir) === hook ? keeperDir : undefined;
}
