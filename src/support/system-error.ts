// Errors of the operating system: their codes, and messages for a shortage.
import { NacreError } from "./errors.ts";
import { isError } from "./realms.ts";

/** The code of a system error, for example ENOENT; undefined for any other error. */
export function systemCode(thrown: unknown): string | undefined {
  return isError(thrown) && "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
}

/** Whether the disk is full, or the quota of this user is used up. */
export function isFull(thrown: unknown): boolean {
  return ["ENOSPC", "EDQUOT"].includes(systemCode(thrown) ?? "");
}

/** The error for a shortage of a resource, which may be temporary; undefined for any other error. */
export function shortageOf(thrown: unknown): NacreError | undefined {
  const message = SHORTAGES[systemCode(thrown) ?? ""];
  return message === undefined ? undefined : new NacreError("spawn_failed", message, { cause: thrown });
}

const SHORTAGES: Readonly<Record<string, string>> = {
  EAGAIN:
    "No process could be started: the limit on processes is reached (ulimit -u, or pids.max of the cgroup). End a process and try again.",
  EMFILE: "This process has too many open files (ulimit -n). Close some and try again.",
  ENFILE: "The system has too many open files. Close some and try again.",
  ENOMEM: "The system is out of memory. End a process and try again.",
};
