// The paths that a program could damage through an argument that the policy does not understand.

import type { PathClass } from "./paths/path-class.ts";
import type { ResolvedPath } from "./paths/paths.ts";
import { MAY_WRITE } from "./programs/may-write.ts";

/** System files, devices, credentials, startup files, and settings that decide what runs. */
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

/** All other paths outside the workspace and the temporary directories. */
const OUTSIDE: ReadonlySet<PathClass> = new Set<PathClass>([
  "home",
  "above-workspace",
  "inside-home",
  "outside",
]);

/** Devices that are harmless to use, such as terminals, cameras and GPUs. */
const USED_DEVICES = /^\/dev\/(tty|cu\.|serial|video|dri|snd|kvm|nvidia|input|bus|net\/tun|fuse)/;
/** Directories outside the home directories that the operating system itself does not need. */
const MACHINE_TREES = /^\/(opt|srv|mnt|media|run|snap|nix)\//;

/**
 * Whether the policy must ask about this path. The path comes from an argument that the policy does not understand.
 * @param how One of MAY_WRITE.
 * @param isNamed False if a link leads to the path: links in a workspace often lead to user data outside it.
 */
export function isPathAtRisk({ class: kind, path }: ResolvedPath, how: string, isNamed: boolean): boolean {
  if (kind === "device" && USED_DEVICES.test(path)) return false;
  if (how === MAY_WRITE.input) return kind === "secret" || kind === "policy";
  if (ALWAYS.has(kind)) return true;
  if (!isNamed || !OUTSIDE.has(kind)) return false;
  return how === MAY_WRITE.unknown || (kind === "outside" && MACHINE_TREES.test(path));
}
