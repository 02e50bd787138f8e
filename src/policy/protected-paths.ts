// The paths that a program could damage through an argument that the policy does not understand.

import type { PathClass } from "./paths/path-class.ts";
import type { ResolvedPath } from "./paths/paths.ts";
import { MAY_WRITE } from "./programs/may-write.ts";

/** Files of the machine, credentials, startup files, and settings that decide what runs. */
const ALWAYS: ReadonlySet<PathClass> = new Set<PathClass>([
  "root",
  "system",
  "system-config",
  "kernel",
  "device",
  "secret",
  "startup",
  "hooks",
  "policy",
]);

/** Everything else outside the workspace and the temporary directories. */
const OUTSIDE: ReadonlySet<PathClass> = new Set<PathClass>([
  "home",
  "above-workspace",
  "inside-home",
  "outside",
]);

/** Terminals, cameras and processors: using them is harmless. */
const USED_DEVICES = /^\/dev\/(tty|cu\.|serial|video|dri|snd|kvm|nvidia|input|bus|net\/tun|fuse)/;
/** Directories of the machine that the operating system itself does not need. */
const MACHINE_TREES = /^\/(opt|srv|mnt|media|run|snap|nix)\//;

/**
 * Whether the policy must ask if an argument that it does not understand names this path. `how` is one of MAY_WRITE.
 * `isNamed` is false for the target of a link, because links in a workspace often lead to user data outside it.
 */
export function isPathAtRisk({ class: kind, path }: ResolvedPath, how: string, isNamed: boolean): boolean {
  if (kind === "device" && USED_DEVICES.test(path)) return false;
  if (how === MAY_WRITE.input) return kind === "secret" || kind === "policy";
  if (ALWAYS.has(kind)) return true;
  if (!isNamed || !OUTSIDE.has(kind)) return false;
  return how === MAY_WRITE.unknown || (kind === "outside" && MACHINE_TREES.test(path));
}
