// The file system as a sandboxed command sees it, as arguments of bwrap. Later mounts lie over earlier ones, so
// the order is the meaning: everything read-only, private places, what is writable, what is guarded in there, and
// what is hidden, last.
import { dirname } from "node:path";
import { NacreError } from "../support/errors.ts";
import { shownPath } from "../support/path-text.ts";
import type { Shown, WrapPlan } from "./driver.ts";
import { guardRepositories } from "./git-guard.ts";
import type { GuardedLink } from "./guarded-links.ts";
import { secretsOf } from "./masks.ts";
import type { Placeholder } from "./placeholders.ts";
import { isWithin, kindOf, missingParts, realPath, realPaths } from "./real-path.ts";
import type { SandboxSpec } from "./sandbox-options.ts";
import { guardStartup } from "./startup-guard.ts";
import { trustedIn } from "./trusted-base.ts";

/** What is seen of our state root, and what counts as not there. */
type ViewPlan = Pick<WrapPlan, "shown" | "isPlaceholder" | "repositories">;

export interface View {
  readonly args: readonly string[];
  readonly placeholders: readonly Placeholder[];
  readonly notEnforced: readonly string[];
  /** Links that a command can replace. */
  readonly links: readonly GuardedLink[];
}

export function viewOf(spec: SandboxSpec, { shown, isPlaceholder, repositories }: ViewPlan): View {
  const { workspace, profile } = spec;
  const writable = outermostFirst([...new Set(spec.writable)]);
  const real = realPaths();
  for (const path of writable) checkWritable(path, real);
  const isPrivate = (path: string) => PRIVATE.some((place) => isWithin(path, place));
  const shownInPrivate = profile === "read-only" && isPrivate(workspace) ? [workspace] : [];
  const isVisible = (path: string) =>
    !isPrivate(path) || [...writable, ...shownInPrivate].some((root) => isWithin(path, root));
  const isWritable = (path: string) => writable.some((root) => isWithin(path, root));
  const kindAt = remembered((path) => {
    const kind = kindOf(path);
    return kind !== undefined && isPlaceholder(path) ? undefined : kind;
  });
  const { gitConfig, homes } = spec;
  const guard = guardRepositories(writable, repositories, { gitConfig, homes, kindAt });
  const masks = masksOf(spec, { isVisible, isWritable, kindAt, real }, real(shown.stateRoot));
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
  const pins = pinsFor([...readOnly, ...masks.places, ...roots], { roots, placeholders });
  const binds = outermostFirst([...roots, ...pins]);
  return {
    args: [
      // The settings of the kernel are files that belong to root, and root needs no capability to write its own: where
      // nacre runs as root, a writable /proc/sys would be the way out.
      ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc"],
      ...PRIVATE.flatMap((path) => ["--perms", "1777", "--tmpfs", path]),
      ...[...neededOfRun(spec, real), ...shownInPrivate].flatMap((path) => ["--ro-bind", path, path]),
      ...binds.flatMap((path) => ["--bind", path, path]),
      ...readOnly.flatMap((path) => ["--ro-bind", path, path]),
      ...masks.args,
      ...stateRootArgs(shown, real),
    ],
    placeholders,
    notEnforced: [...guard.notEnforced, ...startup.notEnforced, ...trusted.notEnforced],
    links: [...guard.links, ...startup.links],
  };
}

/**
 * The directories between what is writable and what is guarded or hidden in there, to be bound on themselves: only a
 * mount cannot be renamed. `mv .git away; mkdir -p .git/hooks` would leave the guarded hooks behind, and a hidden file
 * could be read under another name by the next command.
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

/** Paths were made real when they were first looked at: a command may have put a link there since. */
function checkWritable(path: string, real: Looks["real"]): void {
  if (kindOf(path) === undefined) {
    throw new NacreError(
      "invalid_input",
      `The writable path ${shownPath(path)} does not exist. Create it, or leave it out.`,
    );
  }
  if (real(path) === path) return;
  throw new NacreError(
    "spawn_failed",
    `The writable path ${shownPath(path)} leads elsewhere since it was first used, to ${shownPath(real(path))}. Nothing was run.`,
  );
}

/** Empty inside, and gone with the sandbox: temporary files of others, and the sockets of every daemon. */
const PRIVATE = ["/tmp", "/run"];

/** Name service, where its configuration is a link into /run; the system itself on NixOS. */
function neededOfRun({ network }: SandboxSpec, real: Looks["real"]): string[] {
  const needed = [...(network === "full" ? ["/etc/resolv.conf"] : []), "/run/current-system"].map(real);
  return needed.filter((path) => isWithin(path, "/run") && kindOf(path) !== undefined);
}

/** How paths are looked at in one view. */
interface Looks {
  readonly isVisible: (path: string) => boolean;
  readonly isWritable: (path: string) => boolean;
  /** undefined for what only holds a place. */
  readonly kindAt: (path: string) => ReturnType<typeof kindOf>;
  readonly real: (path: string) => string;
}

function remembered<T>(look: (path: string) => T): (path: string) => T {
  const known = new Map<string, T>();
  return (path) => {
    if (!known.has(path)) known.set(path, look(path));
    return known.get(path) as T;
  };
}

function masksOf(
  spec: SandboxSpec,
  { isVisible, isWritable, kindAt, real }: Looks,
  ownRoot: string,
): Pick<View, "args" | "placeholders"> & { readonly places: readonly string[] } {
  const args: string[] = [];
  const placeholders = new Map<string, Placeholder>();
  const hidden: string[] = [];
  const wanted = [
    ...spec.hide.map((path) => ({ path: real(path), kind: "file" as const })),
    ...spec.stateRoots.map((path) => ({ path, kind: "directory" as const })),
    ...secretsOf(spec).map(({ path, kind }) => ({ path: real(path), kind })),
  ].sort((a, b) => a.path.length - b.path.length);
  for (const { path, kind } of wanted) {
    if (!isVisible(path) || hidden.some((other) => isWithin(path, other))) continue;
    refuseInside(spec, path);
    // Mounted by itself, with holes.
    if (path === ownRoot) continue;
    const missing = missingParts(path, kindAt);
    // Nothing can be made below a file, or where nothing can be written.
    if (!missing || (missing[0] !== undefined && !isWritable(missing[0]))) continue;
    for (const at of missing) placeholders.set(at, { path: at, kind: at === path ? kind : "directory" });
    hidden.push(path);
    args.push(...maskArgs(path, placeholders.get(path)?.kind ?? kindOf(path)));
  }
  return { args, placeholders: [...placeholders.values()], places: hidden };
}

/** Without any permission, so that a program that looks is told "Permission denied" and not that there is nothing. */
function maskArgs(path: string, kind: "directory" | "file" | undefined): string[] {
  return kind === "directory"
    ? ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]
    : ["--ro-bind", "/dev/null", path];
}

function refuseInside({ workspace, writable }: SandboxSpec, hidden: string): void {
  const inside = [workspace, ...writable].find((path) => isWithin(path, hidden));
  if (inside === undefined) return;
  throw new NacreError(
    "invalid_input",
    `${shownPath(inside)} lies in ${shownPath(hidden)}, which the sandbox hides from every command. Work in another directory.`,
  );
}

/** Empty but for what this shell needs. It can be passed through, as bash opens its script by its path. */
function stateRootArgs({ stateRoot, readable, writable }: Shown, real: Looks["real"]): string[] {
  const root = real(stateRoot);
  return [
    ...["--perms", "0755", "--tmpfs", root],
    ...readable.map(real).flatMap((path) => ["--ro-bind", path, path]),
    ...writable.map(real).flatMap((path) => ["--bind", path, path]),
    ...["--remount-ro", root],
  ];
}

/** Whether a command could stand in this directory. */
export function isSeen(directory: string, spec: SandboxSpec): boolean {
  const path = realPath(directory);
  const roots = [spec.workspace, ...spec.writable];
  if (roots.some((root) => isWithin(path, root))) return true;
  return ![...PRIVATE, ...spec.hide, ...spec.stateRoots].some((place) => isWithin(path, place));
}

function outermostFirst(paths: readonly string[]): string[] {
  return [...paths].sort((a, b) => depth(a) - depth(b));
}

function depth(path: string): number {
  return path === "/" ? 0 : path.split("/").length - (dirname(path) === path ? 1 : 0);
}
