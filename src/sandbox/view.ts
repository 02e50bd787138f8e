// The file system of a sandboxed command, as bwrap arguments. Later mounts cover earlier ones, so the order matters:
// everything read-only, private directories, writable paths, protected paths inside them, hidden paths last.
import { dirname } from "node:path";
import { NacreError } from "../support/errors.ts";
import { shownPath } from "../support/path-text.ts";
import type { VisibleState, WrapPlan } from "./driver.ts";
import { findSecrets } from "./find-credentials.ts";
import { guardRepositories } from "./git-guard.ts";
import type { GuardedLink } from "./guarded-links.ts";

import type { Placeholder } from "./placeholders.ts";
import { isWithin, kindOf, missingParts, realPath, realPaths } from "./real-path.ts";
import type { SandboxSpec } from "./sandbox-options.ts";
import { guardStartup } from "./startup-guard.ts";
import { trustedIn } from "./trusted-base.ts";

interface ViewPlan extends Pick<WrapPlan, "visibleState" | "isPlaceholder" | "repositories"> {
  /** An empty directory without permissions, which no command can write. */
  readonly emptyDir: string;
}

export interface View {
  readonly args: readonly string[];
  readonly placeholders: readonly Placeholder[];
  readonly notEnforced: readonly string[];
  /** Links that a command can replace. */
  readonly links: readonly GuardedLink[];
}

export function viewOf(
  spec: SandboxSpec,
  { visibleState, isPlaceholder, repositories, emptyDir }: ViewPlan,
): View {
  const { workspace, profile } = spec;
  const writable = outermostFirst([...new Set(spec.writable)]);
  const real = realPaths();
  for (const path of writable) checkWritable(path, real);
  const isPrivate = (path: string) => PRIVATE.some((directory) => isWithin(path, directory));
  const shownInPrivate = profile === "read-only" && isPrivate(workspace) ? [workspace] : [];
  const isVisible = (path: string) =>
    !isPrivate(path) || [...writable, ...shownInPrivate].some((root) => isWithin(path, root));
  const isWritable = (path: string) => writable.some((root) => isWithin(path, root));
  const kindAt = memoized((path) => {
    const kind = kindOf(path);
    return kind !== undefined && isPlaceholder(path) ? undefined : kind;
  });
  const { gitConfig, homes } = spec;
  const guard = guardRepositories(writable, repositories, { gitConfig, homes, kindAt });
  const facts = { isVisible, isWritable, kindAt, real };
  const masks = masksOf(spec, facts, { ownRoot: real(visibleState.stateRoot), emptyDir });
  const startup = guardStartup({ homes, writable, kindAt, real });
  const trusted = trustedIn(spec, kindAt);
  const roots = [...new Set([...writable, ...guard.writable])];
  const readOnly = [...guard.readOnly, ...startup.readOnly, ...trusted.readOnly];
  const placeholders = [
    ...guard.placeholders,
    ...startup.placeholders,
    ...trusted.placeholders,
    ...masks.placeholders,
  ];
  const pins = pinsFor([...readOnly, ...masks.hidden, ...roots], { roots, placeholders });
  const binds = outermostFirst([...roots, ...pins]);
  return {
    args: [
      // Kernel settings in /proc/sys belong to root, and root needs no capability to write its own files. If nacre runs as
      // root, a writable /proc/sys would allow an escape.
      ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc"],
      ...PRIVATE.flatMap((path) => ["--perms", "1777", "--tmpfs", path]),
      ...[...runPathsNeeded(spec, real), ...shownInPrivate].flatMap((path) => ["--ro-bind", path, path]),
      ...binds.flatMap((path) => ["--bind", path, path]),
      ...readOnly.flatMap((path) => ["--ro-bind", path, path]),
      ...masks.args,
      ...stateRootArgs(visibleState, real),
    ],
    placeholders,
    notEnforced: [...guard.notEnforced, ...startup.notEnforced, ...trusted.notEnforced],
    links: [...guard.links, ...startup.links],
  };
}

/**
 * The directories between a writable root and a protected or hidden path. They are bound on themselves, because a mount
 * point cannot be renamed. Otherwise `mv .git away; mkdir -p .git/hooks` would bypass the protected hooks, and the next
 * command could read a hidden file under another name.
 */
function pinsFor(
  targets: readonly string[],
  { roots, placeholders }: { readonly roots: readonly string[]; readonly placeholders: View["placeholders"] },
): string[] {
  const pins = new Set<string>();
  const made = new Set(placeholders.flatMap(({ path, kind }) => (kind === "directory" ? [path] : [])));
  for (const target of targets) {
    for (
      let at = dirname(target);
      roots.some((root) => at !== root && isWithin(at, root));
      at = dirname(at)
    ) {
      if ((kindOf(at) === "directory" || made.has(at)) && !roots.includes(at)) pins.add(at);
    }
  }
  return [...pins];
}

/** Paths were resolved when the sandbox was prepared: a command may have put a link there since. */
function checkWritable(path: string, real: PathFacts["real"]): void {
  if (kindOf(path) === undefined) {
    throw new NacreError(
      "invalid_input",
      `The writable path ${shownPath(path)} does not exist. Create it, or remove it from writable.`,
    );
  }
  if (real(path) === path) return;
  throw new NacreError(
    "spawn_failed",
    `The writable path ${shownPath(path)} has become a link to ${shownPath(real(path))} since it was first used. Nothing was run.`,
  );
}

/** Directories that are empty inside and vanish with the sandbox: they hold temporary files of others and daemon sockets. */
const PRIVATE = ["/tmp", "/run"];

/** Paths in /run that commands need: the name service configuration, and the system itself on NixOS. */
function runPathsNeeded({ network }: SandboxSpec, real: PathFacts["real"]): string[] {
  const needed = [...(network === "full" ? ["/etc/resolv.conf"] : []), "/run/current-system"].map(real);
  return needed.filter((path) => isWithin(path, "/run") && kindOf(path) !== undefined);
}

/** Path lookups, cached for one view. */
interface PathFacts {
  readonly isVisible: (path: string) => boolean;
  readonly isWritable: (path: string) => boolean;
  /** undefined for a placeholder. */
  readonly kindAt: (path: string) => ReturnType<typeof kindOf>;
  readonly real: (path: string) => string;
}

function memoized<T>(get: (path: string) => T): (path: string) => T {
  const known = new Map<string, T>();
  return (path) => {
    if (!known.has(path)) known.set(path, get(path));
    return known.get(path) as T;
  };
}

function masksOf(
  spec: SandboxSpec,
  { isVisible, isWritable, kindAt, real }: PathFacts,
  { ownRoot, emptyDir }: { readonly ownRoot: string; readonly emptyDir: string },
): Pick<View, "args" | "placeholders"> & { readonly hidden: readonly string[] } {
  const args: string[] = [];
  const placeholders = new Map<string, Placeholder>();
  const hidden: string[] = [];
  const wanted = [
    ...spec.hide.map((path) => ({ path: real(path), kind: "file" as const })),
    ...spec.stateRoots.map((path) => ({ path, kind: "directory" as const })),
    ...spec.transientRoots.map((path) => ({ path, kind: "directory" as const })),
    ...findSecrets(spec.homes, spec.credentials).map(({ path, kind }) => ({ path: real(path), kind })),
  ].sort((a, b) => a.path.length - b.path.length);
  for (const { path, kind } of wanted) {
    if (!isVisible(path) || hidden.some((other) => isWithin(path, other))) continue;
    refuseInside(spec, path);
    // stateRootArgs mounts this host's own state root.
    if (path === ownRoot) continue;
    const missing = missingParts(path, kindAt);
    // Commands can create nothing below a file, or in a directory that is not writable.
    if (!missing || (missing[0] !== undefined && !isWritable(missing[0]))) continue;
    for (const at of missing) placeholders.set(at, { path: at, kind: at === path ? kind : "directory" });
    hidden.push(path);
    const isTransient = spec.transientRoots.includes(path) && !placeholders.has(path);
    args.push(
      ...(isTransient
        ? transientMaskArgs(path, emptyDir)
        : maskArgs(path, placeholders.get(path)?.kind ?? kindOf(path))),
    );
  }
  return { args, placeholders: [...placeholders.values()], hidden };
}

/** Mounts without permissions, so that access fails with "Permission denied" instead of showing an empty directory. */
function maskArgs(path: string, kind: "directory" | "file" | undefined): string[] {
  return kind === "directory"
    ? ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]
    : ["--ro-bind", "/dev/null", path];
}

/**
 * bwrap fails if a mount point does not exist, and another host can remove its state root before bwrap gets here.
 * --ro-bind-try skips a mount whose source is missing. So the source leads through the mount point: `ROOT/../..` exists only
 * while ROOT does.
 */
function transientMaskArgs(path: string, emptyDir: string): string[] {
  const up = "/..".repeat(path.split("/").length - 1);
  return ["--ro-bind-try", `${path}${up}${emptyDir}`, path];
}

function refuseInside({ workspace, writable }: SandboxSpec, hidden: string): void {
  const inside = [workspace, ...writable].find((path) => isWithin(path, hidden));
  if (inside === undefined) return;
  throw new NacreError(
    "invalid_input",
    `${shownPath(inside)} is in ${shownPath(hidden)}, which the sandbox hides from every command. Use another directory.`,
  );
}

/** Shows only what this shell needs. The directory is searchable, because bash opens its script by path. */
function stateRootArgs({ stateRoot, readable, writable }: VisibleState, real: PathFacts["real"]): string[] {
  const root = real(stateRoot);
  return [
    ...["--perms", "0755", "--tmpfs", root],
    ...readable.map(real).flatMap((path) => ["--ro-bind", path, path]),
    ...writable.map(real).flatMap((path) => ["--bind", path, path]),
    ...["--remount-ro", root],
  ];
}

/** Whether a command can use this working directory. */
export function isSeen(directory: string, spec: SandboxSpec): boolean {
  const path = realPath(directory);
  const roots = [spec.workspace, ...spec.writable];
  if (roots.some((root) => isWithin(path, root))) return true;
  return ![...PRIVATE, ...spec.hide, ...spec.stateRoots, ...spec.transientRoots].some((hidden) =>
    isWithin(path, hidden),
  );
}

function outermostFirst(paths: readonly string[]): string[] {
  return [...paths].sort((a, b) => depth(a) - depth(b));
}

function depth(path: string): number {
  return path === "/" ? 0 : path.split("/").length - (dirname(path) === path ? 1 : 0);
}
