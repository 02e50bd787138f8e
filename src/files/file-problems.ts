// The errors of the file tools for a path that they cannot use. Each message says what is at the path, why the tools
// refuse it, and what to do instead.

import { type ErrorCode, messageOf, NacreError } from "../support/errors.ts";
import { FILE_MAX_BYTES } from "../support/limits.ts";
import { shownPath } from "../support/path-text.ts";
import { isFull, systemCode } from "../support/system-error.ts";
import type { LoadAnswer, Located } from "./disk/disk.ts";

export function missingFile(path: string, { nearest, missingDirs }: Located): NacreError {
  const near = nearest.length === 0 ? "" : ` Did you mean ${nearest.map(shownPath).join(", ")}?`;
  const what = missingDirs > 0 ? "Neither the file nor its directory exists" : "The file does not exist";
  return new NacreError("invalid_input", `${what}: ${shownPath(path)}.${near}`);
}

/** The error to throw if load() did not return the bytes of a file. */
export function notLoaded(
  path: string,
  answer: Exclude<LoadAnswer, { kind: "loaded" | "moved" }>,
): NacreError {
  const shown = shownPath(path);
  switch (answer.kind) {
    case "not a file":
      return new NacreError("invalid_input", `${shown} is ${WHAT[answer.entry]}`);
    case "too large":
      return new NacreError(
        "invalid_input",
        `${shown} has ${answer.size} bytes; the file tools handle at most ${FILE_MAX_BYTES}. Read a part of it with a command: sed -n '1,100p', head or tail.`,
      );
    case "busy":
      return new NacreError(
        "invalid_input",
        `${shown} changes faster than it can be read. Read it with a command (tail), or try again later.`,
      );
  }
}

const WHAT = {
  file: "a file.",
  directory: "a directory, not a file. List it with Glob, or with ls in a command.",
  fifo: "a fifo, not a file: reading it could wait forever.",
  socket: "a socket, not a file.",
  "character device": "a device, not a file. Use a command if you need it.",
  "block device": "a device, not a file. Use a command if you need it.",
  "kernel file": "not a file on a disk: the kernel generates its content. Read it with cat in a command.",
} as const;

/** The error for a path that resolves to a different file on every attempt. */
export function movingPath(path: string): NacreError {
  return new NacreError(
    "invalid_input",
    `Another process keeps changing where ${shownPath(path)} leads. Nothing was done.`,
  );
}

/** Turns a system error into a NacreError that explains it. Returns any other error unchanged. */
export function systemProblem(thrown: unknown, path: string): unknown {
  if (thrown instanceof NacreError) return thrown;
  const code = systemCode(thrown);
  if (code === undefined) return thrown;
  const say = (what: string, kind: ErrorCode = "invalid_input") =>
    new NacreError(kind, `${shownPath(path)} ${what}`, { cause: thrown });
  if (isFull(thrown) || code === "EFBIG")
    return say(
      "was not written: no space is left on its disk. Free some space. Nothing was changed.",
      "limit_reached",
    );
  return say(`${PROBLEMS[code] ?? `cannot be used (${messageOf(thrown)})`}. Nothing was changed.`);
}

const PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: "cannot be used: permission denied",
  EPERM: "cannot be used: the operation is not permitted",
  EROFS: "cannot be written: its file system is read-only",
  ENOENT: "does not exist",
  ENOTDIR: "cannot exist: a part of its path is a file, not a directory",
  ELOOP: "cannot be resolved: its links form a loop",
  ENAMETOOLONG: "cannot exist: the path is too long",
  ETXTBSY: "cannot be written: it is a program that is running",
  EISDIR: "is a directory, not a file",
};
