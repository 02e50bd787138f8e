// What nacre needs of this machine, looked at one by one: what works, what does not, and what to do about it.

import { once } from "node:events";
import { mkdtempSync, rmSync, statfsSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readStat } from "../engine/process-table.ts";
import { missingReaper, REAPER_REMEDY } from "../engine/reaper.ts";
import { defaultStateRoot, ROOT_NAMES, StateRoot } from "../engine/state-dir.ts";
import { Bubblewrap } from "../sandbox/bubblewrap.ts";
import { findGroupParents } from "../sandbox/cgroups.ts";
import { realPath } from "../sandbox/real-path.ts";
import { sandboxSpec } from "../sandbox/sandbox-options.ts";
import { guardTrusted, ownProgram } from "../sandbox/trusted-base.ts";
import { ShellManager } from "../shell-manager.ts";
import { monotonicMs } from "../support/clock.ts";
import { messageOf } from "../support/errors.ts";
import { DOCTOR_WAIT_MS, LOW_SPACE_BYTES, REAPED_MAX_MS } from "../support/limits.ts";
import { isFull } from "../support/system-error.ts";
import { sleep } from "../support/timing.ts";
import { humanizeBytes } from "../text/snip.ts";
import { counted } from "./amounts.ts";
import { startOwnCommand } from "./own-command.ts";

export interface CheckupFinding {
  readonly name: string;
  /** "failed": nothing runs without it. "limited": commands run, and a promise is weaker. */
  readonly status: "ok" | "limited" | "failed";
  readonly detail: string;
  readonly fix?: string;
}

type Result = Omit<CheckupFinding, "name">;

export async function* checkup(workingDir: string): AsyncGenerator<CheckupFinding, void, void> {
  yield named("Node", nodeVersion());
  yield named("system", system());
  const state = stateRoot();
  yield named("state root", state);
  // The rest of the machine can be looked at all the same, from a place that is removed again.
  const spare = state.status === "failed" ? mkdtempSync(join(tmpdir(), "nacre-doctor-")) : undefined;
  const manager = new ShellManager({ poolSize: 0, ...(spare === undefined ? {} : { stateRoot: spare }) });
  try {
    yield named("bash", await orFailed(() => trial(manager, workingDir)));
    yield named("tag", tag(manager));
    yield named("reaper", await orFailed(() => reaper(manager, workingDir)));
    yield named("cgroup", cgroup());
    yield named("bubblewrap", await orFailed(() => bubblewrap(manager, workingDir)));
    yield named("inotify", await orFailed(() => inotify(manager)));
  } finally {
    await manager.dispose();
    if (spare !== undefined) rmSync(spare, { recursive: true, force: true });
  }
}

const NODE_MIN = [20, 19] as const;

function nodeVersion(version = process.versions.node): Result {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const fits = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  return fits ? ok(version) : failed(`${version} is too old`, `Install Node ${NODE_MIN.join(".")} or later.`);
}

function system(platform: string = process.platform): Result {
  if (platform === "linux") return ok("Linux");
  if (platform === "win32") return failed("Windows has neither bash nor /proc", "Use WSL 2.");
  return limited(
    `${platform} has no /proc: what a command leaves running cannot be found for sure`,
    "Use Linux where that matters.",
  );
}

function stateRoot(): Result {
  let path: string;
  try {
    path = defaultStateRoot();
    new StateRoot(path).ensure();
  } catch (error) {
    return failed(messageOf(error));
  }
  const problem = problemOfWriting(path);
  if (problem !== undefined) return problem;
  const { bavail, bsize } = statfsSync(path);
  const free = bavail * bsize;
  const detail = `${path}, ${humanizeBytes(free)} free`;
  return free >= LOW_SPACE_BYTES
    ? ok(detail)
    : limited(detail, "Output goes there: free some space (nacre clean), or set NACRE_HOME to another disk.");
}

/** How much is free says little: there are quotas, and disks that count otherwise. */
function problemOfWriting(path: string): Result | undefined {
  let dir: string | undefined;
  try {
    dir = mkdtempSync(join(path, "doctor-"));
    writeFileSync(join(dir, "file"), Buffer.alloc(TRIAL_BYTES));
    return undefined;
  } catch (error) {
    return isFull(error)
      ? failed(`${path}, no space is left`, "Free some (nacre clean), or set NACRE_HOME to another disk.")
      : failed(`${path} cannot be written to: ${messageOf(error)}`, "Set NACRE_HOME to another disk.");
  } finally {
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
  }
}

/** What one shell needs before it has printed anything, and some more. */
const TRIAL_BYTES = 65_536;

/** A real command, from start to end. */
async function trial(manager: ShellManager, workingDir: string): Promise<Result> {
  const command = 'printf %s "$BASH_VERSION ($BASH)"';
  const shell = await startOwnCommand(manager, { command, workingDir }, { background: false });
  const code = await shell.wait(DOCTOR_WAIT_MS);
  const said = shell.getAllOutput();
  manager.forget(shell);
  return code === 0
    ? ok(`${said}, runs commands`)
    : failed(`a command that prints its version ended with ${code}`, "Is something killing bash?");
}

function tag({ containment }: ShellManager): Result {
  if (containment !== "best-effort") return ok("everything a command starts is found, however it hides");
  return limited(
    "processes cannot be tagged here: some that hide may survive a kill",
    "Start nacre without a limit on file locks (ulimit -x unlimited), and with /proc mounted.",
  );
}

/** A real orphan: does it go when it has ended, or stay as a zombie? */
async function reaper(manager: ShellManager, workingDir: string): Promise<Result> {
  // It ends after its parent, or that would reap it.
  const command = "bash -c 'sleep 0.1 >/dev/null 2>&1 & echo $!'";
  const shell = await startOwnCommand(manager, { command, workingDir }, { background: false });
  await shell.wait(DOCTOR_WAIT_MS);
  const orphan = Number(shell.getAllOutput());
  manager.forget(shell);
  for (const deadline = monotonicMs() + REAPED_MAX_MS; readStat(orphan); ) {
    if (monotonicMs() > deadline)
      return limited(missingReaper() ?? "an orphan that had ended was not reaped within 2 s", REAPER_REMEDY);
    await sleep(20);
  }
  return ok("processes that outlive their command are reaped");
}

function cgroup(): Result {
  const found = findGroupParents(["pids", "memory"]);
  const controllers = found.flatMap((parent) => parent.controllers);
  if (controllers.length === 2) return ok(`limits on processes and memory (version ${found[0]?.version})`);
  const have = controllers.length === 0 ? "no group can be made here" : `only for ${controllers.join()}`;
  return limited(
    `${have}: limits are kept per process, not for a command as a whole`,
    "Run inside a group of your own: systemd-run --user --scope -p Delegate=yes nacre …",
  );
}

async function bubblewrap({ root }: ShellManager, workspace: string): Promise<Result> {
  const spec = sandboxSpec({ sandbox: "read-only" }, { workspace, stateRoots: [root.path], trusted: [] });
  if (!spec) return ok("not asked for");
  const result = await new Bubblewrap(join(root.path, ROOT_NAMES.sandbox)).probe(spec);
  if (!result.ok) return limited(`no sandbox: ${result.why}`, result.fix);
  const guarded = guardTrusted(ownProgram(undefined), [realPath(workspace)]);
  if (guarded.ok) return ok("the sandbox can be enforced");
  return limited(`workspace-write is refused in this directory: ${guarded.why}`, guarded.fix);
}

async function inotify({ root }: ShellManager): Promise<Result> {
  const dir = mkdtempSync(join(root.path, "doctor-"));
  try {
    const seen = await isTold(dir);
    return seen ? ok("new output is told at once") : slowToFollow("changes are not told");
  } catch (error) {
    return slowToFollow(messageOf(error));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function isTold(dir: string): Promise<boolean> {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), DOCTOR_WAIT_MS);
  const watcher = watch(dir, { signal: giveUp.signal });
  try {
    const told = once(watcher, "change", { signal: giveUp.signal });
    writeFileSync(join(dir, "file"), "");
    await told;
    return true;
  } catch (error) {
    if (giveUp.signal.aborted) return false;
    throw error;
  } finally {
    clearTimeout(timer);
    watcher.close();
  }
}

function slowToFollow(why: string): Result {
  return limited(
    `${why}: output is followed by looking four times a second`,
    "Raise fs.inotify.max_user_instances and fs.inotify.max_user_watches (sysctl).",
  );
}

async function orFailed(look: () => Promise<Result>): Promise<Result> {
  try {
    return await look();
  } catch (error) {
    return failed(messageOf(error));
  }
}

function named(name: string, result: Result): CheckupFinding {
  return { name, ...result };
}

function ok(detail: string): Result {
  return { status: "ok", detail };
}

function limited(detail: string, fix: string): Result {
  return { status: "limited", detail, fix };
}

function failed(detail: string, fix?: string): Result {
  return { status: "failed", detail, ...(fix === undefined ? {} : { fix }) };
}

/** One sentence over all. */
export function summary(findings: readonly CheckupFinding[]): string {
  const failures = findings.filter(({ status }) => status === "failed").length;
  const limits = findings.filter(({ status }) => status === "limited").length;
  if (failures > 0) return `nacre cannot work here: ${counted(failures, "thing")} to repair.`;
  return limits === 0 ? "Everything works." : `nacre works, with ${counted(limits, "limitation")}.`;
}
