// The build of this package: where it is, its content hash, and the files that a remote end needs to run it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";

/**
 * This path is also correct in the bundled program, because the bundle is at the same depth in the package as this
 * file.
 */
const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));

/** scripts/setup.mjs writes the hash of BUILD_PARTS into this file. */
const HASH_FILE = join(PACKAGE, "dist", "build-hash");

/** The files that the program needs at run time. The program is bundled, so it needs no node_modules. */
const BUILD_PARTS = [
  "package.json",
  "dist/build-hash",
  "dist/cli",
  "dist/engine",
  "dist/files",
  "dist/search-worker.js",
];

let knownHash: string | undefined;

/**
 * Reads the file only once: even after a rebuild, this process must talk to the daemon of the build that this process
 * runs.
 */
export function ownBuildHash(): string {
  if (knownHash !== undefined) return knownHash;
  const hash = attempt(() => readFileSync(HASH_FILE, "utf8").trim());
  if (hash !== undefined && /^[0-9a-f]{16}$/.test(hash)) {
    knownHash = hash;
    return hash;
  }
  throw new NacreError(
    "unavailable",
    `This copy of nacre has no complete build: ${HASH_FILE} is missing. Run npm run build, or install the package again.`,
  );
}

/** The program that `nacre` starts. */
export function ownProgramFile(): string {
  return join(PACKAGE, "dist", "cli", "main.js");
}

export interface BuildFile {
  /** Relative to the package. */
  readonly name: string;
  readonly path: string;
}

export function ownBuildFiles(): readonly BuildFile[] {
  return BUILD_PARTS.flatMap((part) => {
    const names = attempt(() => readdirSync(join(PACKAGE, part), { recursive: true, withFileTypes: true }));
    if (!names) return [{ name: part, path: join(PACKAGE, part) }];
    return names
      .filter((entry) => entry.isFile() && isNeeded(part, entry.name))
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => ({ name: path.slice(PACKAGE.length), path }));
  });
}

/**
 * Whether the program needs the file. The directories of the scripts also contain modules of the library, which the
 * program does not load.
 */
function isNeeded(part: string, name: string): boolean {
  if (part === "dist/engine") return name.endsWith(".sh");
  if (part === "dist/files") return name.endsWith(".cjs");
  return true;
}
