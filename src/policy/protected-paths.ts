// Which paths an argument of unknown meaning puts at risk.

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

/** Terminals, cameras and processors: programs are there to use them. */
const USED_DEVICES = /^\/dev\/(tty|cu\.|serial|video|dri|snd|kvm|nvidia|input|bus|net\/tun|fuse)/;
/** Trees that belong to the machine although no program of the system needs them. */
const MACHINE_TREES = /^\/(opt|srv|mnt|media|run|snap|nix)\//;

/**
 * Whether an argument of unknown meaning on this path matters. `how` says how well the program is known. `isNamed`: the
 * text names the path itself. A link that the user has put into the workspace may lead to data outside of it.
 */
export function isRiskedPath({ class: kind, path }: ResolvedPath, how: string, isNamed: boolean): boolean {
  if (kind === "device" && USED_DEVICES.test(path)) return false;
  if (how === MAY_WRITE.input) return kind === "secret" || kind === "policy";
  if (ALWAYS.has(kind)) return true;
  if (!isNamed || !OUTSIDE.has(kind)) return false;
  return how === MAY_WRITE.unknown || (kind === "outside" && MACHINE_TREES.test(path));
}
