// Functions that the benchmarks share: statistics, the plain spawn for comparison, a manager in a scratch directory.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ShellManager } from "nacre";

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
}

export const median = (values) => quantile(values, 0.5);

/** The values in a new random order, so that no value always follows the same other value. */
export function shuffled(values) {
  const rest = [...values];
  return values.map(() => rest.splice(Math.floor(Math.random() * rest.length), 1)[0]);
}

/** Median / p95. */
export const spread = (values) =>
  `${quantile(values, 0.5).toFixed(2)} / ${quantile(values, 0.95).toFixed(2)}`;

export async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The usual method: spawns bash -c with pipes, reads both pipes, resolves on close. */
export function spawnBash(command, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", command], { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** Runs a shell from start to result, with all of nacre's work: spool, tag, drain, record, leftovers. */
export async function runShell(manager, command, workingDir = "/tmp") {
  const shell = await manager.createShell({ command, workingDir, background: false });
  const code = await shell.wait();
  const leftovers = await shell.leftovers();
  const output = shell.getAllOutput();
  // Clean up after the measurement, because the caller already has its result.
  setImmediate(() => manager.forget(shell));
  return { code, output, leftovers };
}

export async function withManager(use, options = {}) {
  const stateRoot = mkdtempSync(join(tmpdir(), "nacre-bench-"));
  const manager = new ShellManager({ stateRoot, maxLiveShells: 10_000, ...options });
  try {
    await manager.warmUp();
    await sleep(100);
    return await use(manager);
  } finally {
    await manager.dispose();
    rmSync(stateRoot, { recursive: true, force: true });
  }
}

export const ms = (value) => `${value.toFixed(2)} ms`;
export const mib = (bytes) => `${(bytes / 1024 ** 2).toFixed(0)} MiB`;
