// Errors of the operating system: their codes, and what to say when it has run out of something.
import { NacreError } from "./errors.ts";
import { isError } from "./realms.ts";

/** ENOENT and the like; undefined for anything else that was thrown. */
export function systemCode(thrown: unknown): string | undefined {
  return isError(thrown) && "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
}

/** No space is left on the disk, or none for this user. */
export function isFull(thrown: unknown): boolean {
  return ["ENOSPC", "EDQUOT"].includes(systemCode(thrown) ?? "");
}

/** The system is short of something and may not be in a moment; undefined for any other error. */
export function shortageOf(thrown: unknown): NacreError | undefined {
  const words = SHORTAGES[systemCode(thrown) ?? ""];
  return words === undefined ? undefined : new NacreError("spawn_failed", words, { cause: thrown });
}

const SHORTAGES: Readonly<Record<string, string>> = {
  EAGAIN:
    "No process could be started: the limit on processes is reached (ulimit -u, or pids.max of the cgroup). End some and try again.",
  EMFILE: "This process has too many files open (ulimit -n). Close some and try again.",
  ENFILE: "The system has too many files open. Close some and try again.",
  ENOMEM: "The system is out of memory. End something and try again.",
};
