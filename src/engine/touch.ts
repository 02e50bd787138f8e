// Sets modification times to the nanosecond with touch(1).
import { spawnSync } from "node:child_process";
import { PROBE_MAX_MS } from "../support/limits.ts";

/** Blocks until done. A time that cannot be set stays as it is. */
export function spawnTouch(files: readonly { readonly path: string; readonly ns: string }[]): void {
  if (files.length === 0) return;
  const script = 'while [ $# -gt 1 ]; do touch -m -c -d "$1" -- "$2"; shift 2; done';
  const args = files.flatMap(({ path, ns }) => [`@${seconds(ns)}`, path]);
  spawnSync("sh", ["-c", script, "sh", ...args], {
    stdio: "ignore",
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    timeout: PROBE_MAX_MS,
  });
}

function seconds(ns: string): string {
  const digits = ns.padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
