// The messages of a keeper that cannot serve a request.
import { NacreError } from "../support/errors.ts";

export function disposedOf(): NacreError {
  return new NacreError("spawn_failed", "This shell manager has been disposed of.");
}

export function notInTime(): NacreError {
  return new NacreError(
    "spawn_failed",
    "The keeper did not start a shell in time. Is the limit on processes reached (ulimit -u, pids.max)?",
  );
}

export function keepsStopping(pid: number): NacreError {
  return new NacreError(
    "spawn_failed",
    `The keeper (pid ${pid}), which starts all shells, is stopped, and stops again each time nacre continues it. Find and end the program that sends it SIGSTOP, then run kill -CONT ${pid}.`,
  );
}

export function outOfSomething(): NacreError {
  return new NacreError(
    "spawn_failed",
    "A shell could not be started: the system is out of processes, memory or disk space. End some processes or free some space, then try again.",
  );
}
