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

/** Whether an effect of the kind `may-write` is on a path that matters. `how` says how well the program is known. */
export function isRiskedPath({
  resolved,
  how,
}: {
  readonly resolved: ResolvedPath;
  readonly how: string;
}): boolean {
  const { class: kind, path } = resolved;
  if (kind === "device" && USED_DEVICES.test(path)) return false;
  if (how === MAY_WRITE.input) return kind === "secret" || kind === "policy";
  if (ALWAYS.has(kind)) return true;
  if (!OUTSIDE.has(kind)) return false;
  return how === MAY_WRITE.unknown || (kind === "outside" && MACHINE_TREES.test(path));
}
