// The checks of `nacre doctor`: whether this machine has what nacre needs, and how to fix it.
import { once } from "node:events";
import { mkdtempSync, rmSync, statfsSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readStat } from "../engine/process-table.ts";
import { missingReaper, REAPER_REMEDY } from "../engine/reaper.ts";
import { defaultStateRoot, ROOT_NAMES, StateRoot } from "../engine/state-dir.ts";
import { PolicyFiles } from "../execution/policy-files.ts";
import { foreignFile, surveyWorkspace } from "../preview/workspace-survey.ts";
import { Bubblewrap } from "../sandbox/bubblewrap.ts";
import { findGroupParents } from "../sandbox/cgroups.ts";
import { realPath } from "../sandbox/real-path.ts";
import { sandboxSpec } from "../sandbox/sandbox-options.ts";
import { guardTrusted, ownProgram } from "../sandbox/trusted-base.ts";
import { ShellManager } from "../shell-manager.ts";
import { monotonicMs } from "../support/clock.ts";
import { messageOf } from "../support/errors.ts";
import {
  DOCTOR_WAIT_MS,
  LOW_SPACE_BYTES,
  REAPED_MAX_MS,
  REAPED_POLL_MS,
  TRIAL_FILE_BYTES,
} from "../support/limits.ts";
import { isFull } from "../support/system-error.ts";
import { sleep } from "../support/timing.ts";
import { humanizeBytes } from "../text/snip.ts";
import { counted, fixedTime } from "./amounts.ts";
import { startOwnCommand } from "./own-command.ts";
import { effectiveSettings } from "./settings.ts";

export interface CheckupFinding {
  readonly name: string;
  /** "failed": no command can run. "limited": commands run with a weaker guarantee. */
  readonly status: "ok" | "limited" | "failed";
  readonly detail: string;
  readonly fix?: string;
}

type Result = Omit<CheckupFinding, "name">;

export async function* checkup(workingDir: string): AsyncGenerator<CheckupFinding, void, void> {
  yield { name: "settings", ...(await settings(workingDir)) };
  yield { name: "rules", ...rules(workingDir) };
  yield { name: "Node", ...nodeVersion() };
  yield { name: "system", ...system() };
  const state = stateRoot();
  yield { name: "state root", ...state };
  // If the state root is unusable, run the other checks with a temporary one.
  const spare = state.status === "failed" ? mkdtempSync(join(tmpdir(), "nacre-doctor-")) : undefined;
  const manager = new ShellManager({ poolSize: 0, ...(spare === undefined ? {} : { stateRoot: spare }) });
  const checks: Readonly<Record<string, () => Result | Promise<Result>>> = {
    bash: () => bashCheck(manager, workingDir),
    tag: () => tag(manager),
    reaper: () => reaper(manager, workingDir),
    cgroup,
    bubblewrap: () => bubblewrap(manager, workingDir),
    previews: () => previews(manager, workingDir),
    inotify: () => inotify(manager),
  };
  try {
    for (const [name, check] of Object.entries(checks)) yield { name, ...(await orFailed(check)) };
  } finally {
    await manager.dispose();
    if (spare !== undefined) rmSync(spare, { recursive: true, force: true });
  }
}

/** Without valid settings and rules, run, check and mcp refuse every command. */
async function settings(workingDir: string): Promise<Result> {
  try {
    const { policy, sandbox } = await effectiveSettings({}, workingDir);
    return ok(`policy ${policy.value}, sandbox ${sandbox.value}`);
  } catch (error) {
    return failed(messageOf(error), "Correct this, then check it with nacre config.");
  }
}

function rules(workingDir: string): Result {
  try {
    const sets = new PolicyFiles({}).rulesFor(workingDir);
    return ok(sets.length === 0 ? "only the built-in rules" : `${counted(sets.length, "rule file")}, valid`);
  } catch (error) {
    return failed(messageOf(error), "Correct the file or remove it.");
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
    `${platform} has no /proc: processes that a command leaves running may not be found`,
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
  const problem = writeProblem(path);
  if (problem !== undefined) return problem;
  const { bavail, bsize } = statfsSync(path);
  const free = bavail * bsize;
  const detail = `${path}, ${humanizeBytes(free)} free`;
  return free >= LOW_SPACE_BYTES
    ? ok(detail)
    : limited(
        detail,
        "Output goes there: free some space (nacre clean), or set NACRE_HOME to a directory on another disk.",
      );
}

/** Writes a real file: with a quota, a write can fail although the disk has free space. */
function writeProblem(path: string): Result | undefined {
  let dir: string | undefined;
  try {
    dir = mkdtempSync(join(path, "doctor-"));
    writeFileSync(join(dir, "file"), Buffer.alloc(TRIAL_FILE_BYTES));
    return undefined;
  } catch (error) {
    return isFull(error)
      ? failed(
          `${path}: no space left`,
          "Free some space (nacre clean), or set NACRE_HOME to a directory on another disk.",
        )
      : failed(
          `${path} cannot be written to: ${messageOf(error)}`,
          "Set NACRE_HOME to a directory that you can write to.",
        );
  } finally {
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
  }
}

/** Runs a real command. */
async function bashCheck(manager: ShellManager, workingDir: string): Promise<Result> {
  const command = 'printf %s "$BASH_VERSION ($BASH)"';
  const shell = await startOwnCommand(manager, { command, workingDir }, { background: false });
  const code = await shell.wait(DOCTOR_WAIT_MS);
  const output = shell.getAllOutput();
  manager.forget(shell);
  if (code === 0) return ok(`${output}, runs commands`);
  const ending = code === null ? "has no exit code" : `exited with code ${code}`;
  return failed(`a test command ${ending}`, "Check whether another program kills bash.");
}

function tag({ containment }: ShellManager): Result {
  if (containment !== "best-effort") return ok("nacre finds every process that a command starts");
  return limited(
    "processes cannot be tagged: those that detach from their parent and group may survive a kill",
    "Start nacre without a limit on file locks (ulimit -x unlimited), and with /proc mounted.",
  );
}

/** Creates an orphan and checks that it is reaped instead of staying a zombie. */
async function reaper(manager: ShellManager, workingDir: string): Promise<Result> {
  // The orphan must end after its parent. Otherwise the parent would reap it.
  const command = "bash -c 'sleep 0.1 >/dev/null 2>&1 & echo $!'";
  const shell = await startOwnCommand(manager, { command, workingDir }, { background: false });
  await shell.wait(DOCTOR_WAIT_MS);
  const orphan = Number(shell.getAllOutput());
  manager.forget(shell);
  for (const deadline = monotonicMs() + REAPED_MAX_MS; readStat(orphan); ) {
    if (monotonicMs() > deadline)
      return limited(
        missingReaper() ?? `an orphan was not reaped within ${fixedTime(REAPED_MAX_MS)}`,
        REAPER_REMEDY,
      );
    await sleep(REAPED_POLL_MS);
  }
  return ok("processes that outlive their command are reaped");
}

function cgroup(): Result {
  const found = findGroupParents(["pids", "memory"]);
  const controllers = found.flatMap((parent) => parent.controllers);
  if (controllers.length === 2) return ok(`limits processes and memory (version ${found[0]?.version})`);
  const have =
    controllers.length === 0
      ? "no control group can be created"
      : `control groups only for ${controllers.join()}`;
  return limited(
    `${have}: limits apply to each process, not to a command as a whole`,
    "Run nacre in its own control group: systemd-run --user --scope -p Delegate=yes nacre …",
  );
}

async function bubblewrap({ root }: ShellManager, workspace: string): Promise<Result> {
  const spec = sandboxSpec({ sandbox: "read-only" }, { workspace, stateRoots: [root.path], trusted: [] });
  if (!spec) return ok("not requested");
  const result = await new Bubblewrap(join(root.path, ROOT_NAMES.sandbox)).probe(spec);
  if (!result.ok) return limited(`no sandbox: ${result.why}`, result.fix);
  const guarded = guardTrusted(ownProgram(undefined), [realPath(workspace)]);
  if (guarded.ok) return ok("the sandbox works");
  return limited(`workspace-write is refused in this directory: ${guarded.why}`, guarded.fix);
}

async function previews(manager: ShellManager, workingDir: string): Promise<Result> {
  const fix = "Previews are optional; everything else works. docs/preview.md lists what they need.";
  try {
    manager.previews.ensure();
    await manager.confiner.checkPreviews(workingDir);
    const { foreign } = await surveyWorkspace(manager.confiner.workspaceFor(workingDir));
    if (foreign !== undefined) throw foreignFile(foreign);
    return ok("commands can be previewed in this directory");
  } catch (error) {
    return limited(messageOf(error), fix);
  }
}

async function inotify({ root }: ShellManager): Promise<Result> {
  const dir = mkdtempSync(join(root.path, "doctor-"));
  try {
    const seen = await reportsChanges(dir);
    return seen ? ok("reports new output at once") : withoutInotify("changes are not reported");
  } catch (error) {
    return withoutInotify(messageOf(error));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function reportsChanges(dir: string): Promise<boolean> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), DOCTOR_WAIT_MS);
  const watcher = watch(dir, { signal: timeout.signal });
  try {
    const change = once(watcher, "change", { signal: timeout.signal });
    writeFileSync(join(dir, "file"), "");
    await change;
    return true;
  } catch (error) {
    if (timeout.signal.aborted) return false;
    throw error;
  } finally {
    clearTimeout(timer);
    watcher.close();
  }
}

function withoutInotify(why: string): Result {
  return limited(
    `${why}: nacre polls for new output four times a second`,
    "Raise fs.inotify.max_user_instances and fs.inotify.max_user_watches (sysctl).",
  );
}

async function orFailed(check: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await check();
  } catch (error) {
    return failed(messageOf(error));
  }
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

/** One sentence about all findings. */
export function summary(findings: readonly CheckupFinding[]): string {
  const failures = findings.filter(({ status }) => status === "failed").length;
  const limits = findings.filter(({ status }) => status === "limited").length;
  if (failures > 0) return `nacre does not work here: ${counted(failures, "problem")} to fix.`;
  return limits === 0 ? "Everything works." : `nacre works, with ${counted(limits, "limitation")}.`;
}
