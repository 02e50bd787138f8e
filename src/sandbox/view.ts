// The file system of a sandboxed command, as bwrap arguments. Later mounts cover earlier mounts, so the order matters:
// first everything read-only, then private directories, writable paths, protected paths inside them, and hidden paths.
import { dirname } from "node:path";
import { NacreError } from "../support/errors.ts";
import { isWithin, shownPath } from "../support/path-text.ts";
import { findSecrets } from "./find-credentials.ts";
import type { FoundRepository } from "./find-repositories.ts";
import { guardRepositories } from "./git-guard.ts";
import type { GuardedLink } from "./guarded-links.ts";
import type { Placeholder } from "./placeholders.ts";
import { Protections } from "./protections.ts";
import { kindOf, realPath } from "./real-path.ts";
import type { SandboxSpec } from "./sandbox-options.ts";
import { guardStartup } from "./startup-guard.ts";
import { protectTrusted } from "./trusted-base.ts";

/** The parts of this host's state root that a shell needs. The rest is hidden. */
interface VisibleState {
  readonly stateRoot: string;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

export interface ViewPlan {
  readonly visibleState: VisibleState;
  /** Repositories that the search found in writable directories. */
  readonly repositories: readonly FoundRepository[];
  /** Whether a path exists only as a placeholder for another sandbox (placeholders.ts). */
  readonly isPlaceholder: (path: string) => boolean;
}

/** The options of bwrap that mount something at a path. */
interface Mount {
  readonly path: string;
  readonly args: readonly string[];
}

interface View {
  readonly mounts: readonly Mount[];
  /** Whether a mount point can vanish while bwrap mounts something on it. bwrap then fails. */
  readonly canVanish: boolean;
  readonly placeholders: readonly Placeholder[];
  readonly notEnforced: readonly string[];
  /** Links that a command can replace. */
  readonly links: readonly GuardedLink[];
}

/** `emptyDir`: an empty directory without permissions, which no command can write. */
export function viewOf(
  spec: SandboxSpec,
  { visibleState, isPlaceholder, repositories, emptyDir }: ViewPlan & { readonly emptyDir: string },
): View {
  const protections = new Protections(outermostFirst([...new Set(spec.writable)]), isPlaceholder);
  for (const path of protections.roots) checkWritable(path, protections.real);
  if (spec.isGuarded) {
    guardRepositories(protections, repositories, spec);
    guardStartup(protections, spec.homes);
    protectTrusted(protections, spec.trusted, spec.policyFolders);
  }
  const shownInPrivate = spec.profile === "read-only" && isPrivate(spec.workspace) ? [spec.workspace] : [];
  const shown = [...protections.roots, ...shownInPrivate];
  const isReachable = (path: string) => !isPrivate(path) || shown.some((root) => isWithin(path, root));
  const ownRoot = protections.real(visibleState.stateRoot);
  const { masks, canVanish } = masksOf(spec, protections, { isReachable, ownRoot, emptyDir });
  const { placeholders, readOnly, notEnforced, links } = protections;
  const roots = [...new Set([...protections.roots, ...protections.moreWritable])];
  const pins = pinsFor([...readOnly, ...masks.map(({ path }) => path), ...roots], roots, placeholders);
  const needed = runPathsNeeded(spec, protections.real);
  return {
    mounts: [
      mount("--ro-bind", "/", "/"),
      mount("--dev", "/dev"),
      // Kernel settings in /proc/sys belong to root, and root needs no capability to write its own files. So if nacre
      // runs as root, a command could escape through a writable /proc/sys.
      { path: "/proc", args: ["--proc", "/proc", "--remount-ro", "/proc"] },
      ...PRIVATE.map((path) => mount("--perms", "1777", "--tmpfs", path)),
      ...[...needed, ...shownInPrivate].map(readOnlyAt),
      ...outermostFirst([...roots, ...pins]).map(writableAt),
      ...[...readOnly].map(readOnlyAt),
      ...masks,
      // The state root of this host shows only what the shell needs. Mode 0755 lets bash open its script by path.
      mount("--perms", "0755", "--tmpfs", ownRoot),
      ...visibleState.readable.map(protections.real).map(readOnlyAt),
      ...visibleState.writable.map(protections.real).map(writableAt),
      mount("--remount-ro", ownRoot),
    ],
    canVanish,
    placeholders: [...placeholders.values()],
    notEnforced: [...notEnforced],
    links,
  };
}

/** A mount whose last argument is its path. */
function mount(...args: readonly string[]): Mount {
  return { path: args.at(-1) ?? "", args };
}

const readOnlyAt = (path: string) => mount("--ro-bind", path, path);
const writableAt = (path: string) => mount("--bind", path, path);

/**
 * The directories between a writable root and a protected or hidden path. They are mounted on themselves, because a
 * mount point cannot be renamed. Without these mounts, `mv .git away; mkdir -p .git/hooks` would bypass the protected
 * hooks, and the next command could read a hidden file under another name.
 */
function pinsFor(
  targets: readonly string[],
  roots: readonly string[],
  placeholders: ReadonlyMap<string, Placeholder>,
): string[] {
  const pins = new Set<string>();
  for (const target of targets) {
    for (
      let at = dirname(target);
      roots.some((root) => at !== root && isWithin(at, root));
      at = dirname(at)
    ) {
      const kind = placeholders.get(at)?.kind ?? kindOf(at);
      if (kind === "directory" && !roots.includes(at)) pins.add(at);
    }
  }
  return [...pins];
}

/** Checks that no command has replaced the path with a link since the sandbox was prepared. */
function checkWritable(path: string, real: Protections["real"]): void {
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

/** Directories that start empty in a sandbox. Outside, they contain temporary files and sockets of other processes. */
const PRIVATE = ["/tmp", "/run"];

/** Paths in /run that commands need: the DNS configuration, and on NixOS the system itself. */
function runPathsNeeded({ network }: SandboxSpec, real: Protections["real"]): string[] {
  const needed = [...(network === "full" ? ["/etc/resolv.conf"] : []), "/run/current-system"].map(real);
  return needed.filter((path) => isWithin(path, "/run") && kindOf(path) !== undefined);
}

function isPrivate(path: string): boolean {
  return PRIVATE.some((directory) => isWithin(path, directory));
}

interface MaskPlan {
  /** Whether a path would be visible without a mask. */
  readonly isReachable: (path: string) => boolean;
  readonly ownRoot: string;
  readonly emptyDir: string;
}

function masksOf(
  spec: SandboxSpec,
  protections: Protections,
  { isReachable, ownRoot, emptyDir }: MaskPlan,
): Pick<View, "canVanish"> & { readonly masks: readonly Mount[] } {
  const masks: Mount[] = [];
  let canVanish = false;
  const { placeholders, real } = protections;
  const wanted = [
    ...spec.hide.map((path) => ({ path: real(path), kind: "file" as const })),
    ...spec.stateRoots.map((path) => ({ path, kind: "directory" as const })),
    ...spec.transientRoots.map((path) => ({ path, kind: "directory" as const })),
    ...findSecrets(spec.homes, spec.credentials).map(({ path, kind }) => ({ path: real(path), kind })),
  ].sort((a, b) => a.path.length - b.path.length);
  for (const { path, kind } of wanted) {
    if (!isReachable(path) || masks.some((other) => isWithin(path, other.path))) continue;
    refuseInside(spec, path);
    // viewOf() mounts the state root of this host.
    if (path === ownRoot || !protections.hold(path, { kind })) continue;
    const isTransient = spec.transientRoots.includes(path) && !placeholders.has(path);
    canVanish ||= isTransient;
    const args = isTransient
      ? transientMaskArgs(path, emptyDir)
      : maskArgs(path, placeholders.get(path)?.kind ?? kindOf(path));
    masks.push({ path, args });
  }
  return { masks, canVanish };
}

/**
 * Mounts an entry without permissions, so that access fails with "Permission denied" instead of showing an empty
 * directory.
 */
function maskArgs(path: string, kind: Placeholder["kind"] | undefined): string[] {
  return kind === "directory"
    ? ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]
    : ["--ro-bind", "/dev/null", path];
}

/**
 * Skips the mount if the other host's state root (ROOT) has vanished, because bwrap fails if a mount point does not
 * exist. --ro-bind-try skips a mount whose source is missing. So the path of the source leads through the mount point:
 * `ROOT/../..` exists only while ROOT exists. If ROOT vanishes between that check and the mount, bwrap fails, and
 * start-script.ts runs bwrap again.
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

/** Whether a command can use this working directory. */
export function isVisible(directory: string, spec: SandboxSpec): boolean {
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
  return path === "/" ? 0 : path.split("/").length;
}
