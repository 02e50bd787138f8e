// Puts the workspace under an overlay file system, so that a command works on the real files and every change goes to
// another directory. bubblewrap 0.8 cannot mount overlays, so a stage before it does:
//
//   unshare --user --mount   a user namespace in which this user may mount
//   mount -t overlay         the workspace, over itself
//   exec bwrap …             the usual sandbox, which binds what it finds at the path of the workspace
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  lstatSync,
  mkdirSync,
  statfsSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { mountPoints } from "../engine/mount-points.ts";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { entriesOf, fsPath, isWithin, shownPath } from "../support/path-text.ts";
import { systemCode } from "../support/system-error.ts";
import type { SandboxRefusal } from "./explain.ts";
import { findProgram } from "./find-program.ts";
import { OVERLAY_FAILED } from "./overlay-failure.ts";
import type { Placeholder } from "./placeholders.ts";
import { kindOf } from "./real-path.ts";

/**
 * Arguments: the preview's directory, the path of mount, the workspace, then the program to run. The layer names are
 * relative, because mount options would need escapes for some characters of an absolute path.
 */
const STAGE = `cd -- "$1" && "$2" -t overlay -o lowerdir=${PREVIEW_NAMES.lower},upperdir=${PREVIEW_NAMES.upper},workdir=${PREVIEW_NAMES.work},userxattr overlay "$3" || { echo '${OVERLAY_FAILED}' >&2; exit 126; }
cd / && shift 3 && exec "$@"`;

/** `dir`: the directory that contains the layers. */
export interface OverlayPlan {
  readonly dir: string;
  readonly workspace: string;
}

/** The command line that runs before bwrap. Throws if a program is missing. */
export function overlayStage({ dir, workspace }: OverlayPlan): string[] {
  const [unshare, mount, sh] = ["unshare", "mount", "sh"].map((name) => {
    const found = findProgram(name, [workspace]);
    if (found !== undefined) return found;
    throw new NacreError(
      "unavailable",
      `A preview needs ${name}, which is not installed. Install util-linux.`,
    );
  });
  const programs = [unshare, mount, sh] as [string, string, string];
  return [
    programs[0],
    ...["--user", "--map-root-user", "--mount", "--"],
    ...[programs[2], "-c", STAGE, "sh", dir, programs[1], workspace],
  ];
}

/**
 * The options that give the command its own user again, because the stage made this user root. If nacre runs as root,
 * commands without a sandbox may read and write files with any mode. A preview must show what such a command does. So
 * the command gets the one capability that allows this. The capability applies to files of root below the mounts of the
 * sandbox.
 */
export function ownUserArgs(isGuarded: boolean): string[] {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const capability = uid === 0 && !isGuarded ? ["--cap-add", "CAP_DAC_OVERRIDE"] : [];
  return ["--uid", String(uid), "--gid", String(gid), ...capability];
}

/** Creates the layers. The root of an overlay has the mode and the times of its upper directory. */
export function makeLayers({ dir, workspace }: OverlayPlan): void {
  const { mode, atime, mtime } = lstatSync(fsPath(workspace));
  const upper = join(dir, PREVIEW_NAMES.upper);
  mkdirSync(upper, { mode: 0o700 });
  mkdirSync(join(dir, PREVIEW_NAMES.work), { mode: 0o700 });
  symlinkSync(fsPath(workspace), join(dir, PREVIEW_NAMES.lower));
  chmodSync(upper, mode & 0o7777);
  utimesSync(upper, atime, mtime);
}

/**
 * The content that the upper directory had before the command started. It does not count as an effect of the command.
 */
export interface Planted {
  /** Relative to the workspace. */
  readonly placeholders: readonly string[];
  /** All directories, with their modification times in ns; "" for the root. */
  readonly times: readonly (readonly [string, string])[];
}

/**
 * Creates the placeholders in the upper directory. Other sandboxes create them on the real disk (placeholders.ts), but
 * a preview must not change the workspace. Then records the content of the upper directory (Planted).
 */
export function plantPlaceholders(
  { dir, workspace }: OverlayPlan,
  placeholders: readonly Placeholder[],
): void {
  const inside = placeholders.filter(({ path }) => isWithin(path, workspace));
  const upper = join(dir, PREVIEW_NAMES.upper);
  for (const { path, kind, content = "" } of inside) {
    const name = relative(workspace, path);
    makeParents(upper, workspace, dirname(name));
    if (kind === "directory") attempt(() => mkdirSync(fsPath(join(upper, name)), { mode: 0o700 }));
    else writeFileSync(fsPath(join(upper, name)), content, { mode: 0o644 });
  }
  const planted: Planted = {
    placeholders: inside.map(({ path }) => relative(workspace, path)),
    times: directoriesIn(upper).map((path) => {
      const { mtimeNs } = lstatSync(fsPath(join(upper, path)), { bigint: true });
      return [path, String(mtimeNs)];
    }),
  };
  writeFileSync(join(dir, PREVIEW_NAMES.planted), JSON.stringify(planted), { mode: 0o600 });
}

function directoriesIn(base: string, at = ""): string[] {
  const below = attempt(() => entriesOf(join(base, at))) ?? [];
  return [
    at,
    ...below.flatMap((entry) => (entry.isDirectory() ? directoriesIn(base, join(at, entry.name)) : [])),
  ];
}

/**
 * Creates the parents of an entry in the upper layer. They get the owner and mode of the same directories in the
 * workspace.
 */
function makeParents(upper: string, workspace: string, name: string): void {
  if (name === "." || kindOf(join(upper, name)) !== undefined) return;
  makeParents(upper, workspace, dirname(name));
  const path = fsPath(join(upper, name));
  mkdirSync(path, { mode: 0o700 });
  const stat = lstatSync(fsPath(join(workspace, name)), { throwIfNoEntry: false });
  if (!stat) return;
  attempt(() => chownSync(path, stat.uid, stat.gid));
  chmodSync(path, stat.mode & 0o7777);
}

function isReadOnly(path: string): boolean {
  try {
    accessSync(fsPath(path), constants.W_OK);
    return false;
  } catch (error) {
    return systemCode(error) === "EROFS";
  }
}

const OVERLAYFS = 0x794c7630;

/** Why the workspace cannot be under an overlay; undefined if no problem is known. */
export function overlayProblem({ dir, workspace }: OverlayPlan): SandboxRefusal | undefined {
  const refused = (why: string, fix: string): SandboxRefusal => ({ ok: false, why, fix });
  const elsewhere = "Set NACRE_HOME to a directory";
  if (isWithin(dir, workspace) || isWithin(workspace, dir)) {
    return refused(
      `the workspace ${shownPath(workspace)} contains nacre's state directory (${shownPath(dir)})`,
      `${elsewhere} outside of the workspace, or preview in a smaller directory.`,
    );
  }
  const mounted = mountPoints().find((path) => path !== workspace && isWithin(path, workspace));
  if (mounted !== undefined) {
    return refused(
      `${shownPath(mounted)} is a mount point inside the workspace, and an overlay would hide what is mounted there`,
      "Unmount it, or preview in a directory without mount points.",
    );
  }
  if (isReadOnly(workspace)) {
    return refused(
      `the workspace ${shownPath(workspace)} is on a file system that is mounted read-only, so that no preview could be committed`,
      "Mount it writable, or work on a copy.",
    );
  }
  const { uid, gid, dev } = lstatSync(fsPath(workspace));
  if (uid !== process.getuid?.() || gid !== process.getgid?.()) {
    return refused(
      `the workspace ${shownPath(workspace)} belongs to another user or group (uid ${uid}, gid ${gid})`,
      "Preview as its owner, with the owner's primary group.",
    );
  }
  if (attempt(() => statfsSync(dir))?.type === OVERLAYFS) {
    return refused(
      `nacre's state directory ${shownPath(dir)} is on overlayfs, as in a container, and the kernel cannot put an overlay on another one`,
      `${elsewhere} on a volume or a tmpfs.`,
    );
  }
  if (lstatSync(dir).dev !== dev) {
    return refused(
      `the workspace and nacre's state directory ${shownPath(dir)} are on different file systems, so that a commit could not be undone`,
      `${elsewhere} on the file system of ${shownPath(workspace)}.`,
    );
  }
  return undefined;
}
