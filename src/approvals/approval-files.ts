// Reads and writes the files of approvals. A file appears with its complete content, and only this user can read it. An
// answer file is created only once.
import { randomBytes } from "node:crypto";
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NEW_SUFFIX } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { APPROVAL_ID_BYTES } from "../support/limits.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { systemCode } from "../support/system-error.ts";

export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(APPROVAL_ID_BYTES).toString("hex")}`;
}

/** Creates the file unless it exists. Returns whether this call created it: exactly one of several callers succeeds. */
export function createOnce(dir: string, name: string, value: unknown): boolean {
  const fresh = write(dir, name, value);
  try {
    // Use a hard link, so that a reader never finds the file without its content.
    linkSync(fresh, join(dir, name));
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw problemIn(dir, error);
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** Replaces the file: a reader finds either the old content or the new one. */
export function replaceFile(dir: string, name: string, value: unknown): void {
  const fresh = write(dir, name, value);
  try {
    renameSync(fresh, join(dir, name));
  } catch (error) {
    rmSync(fresh, { force: true });
    throw problemIn(dir, error);
  }
}

/** Returns undefined if the file does not exist or cannot be read. */
export function readText(dir: string, name: string): string | undefined {
  return attempt(() => readFileSync(join(dir, name), "utf8"));
}

/** Parses the content as JSON. Does not check its shape. */
export function readJson<T>(dir: string, name: string): T | undefined {
  const text = readText(dir, name);
  return text === undefined ? undefined : attempt(() => JSON.parse(text) as T);
}

export function fileNames(dir: string): readonly string[] {
  return attempt(() => readdirSync(dir)) ?? [];
}

function write(dir: string, name: string, value: unknown): string {
  const fresh = join(dir, `.${name}.${newId("tmp")}${NEW_SUFFIX}`);
  try {
    makeDirs(dir);
    writeFileSync(fresh, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: "wx" });
    return fresh;
  } catch (error) {
    rmSync(fresh, { force: true });
    throw problemIn(dir, error);
  }
}

function problemIn(dir: string, cause: unknown): NacreError {
  return new NacreError(
    "unavailable",
    `The approval cannot be stored in ${dir}: ${messageOf(cause)}. Free some space, or set NACRE_HOME to a directory you own.`,
    { cause },
  );
}
