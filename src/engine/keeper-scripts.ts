// The keeper's scripts: read from the package once, then only from a private copy in the keeper's directory. Every
// new slot, keeper and deputy reads them again, outside any sandbox. A sandboxed command may be able to write to the
// package, but it cannot see the state root.
import { existsSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { systemCode } from "../support/system-error.ts";
import { KEEPER_NAMES } from "./state-dir.ts";

// This path is also correct in a bundle in dist/cli or dist/mcp.
const PACKAGED = fileURLToPath(new URL("../engine/", import.meta.url));

const NAMES = [
  "keeper.sh",
  "pipe.sh",
  "shim.sh",
  "hook.sh",
  "host-gone.sh",
  "output-times.sh",
  "kill-all.sh",
  "deputy.sh",
  "supervisor.sh",
] as const;

export function keeperProgram(keeperDir: string): string {
  return join(keeperDir, KEEPER_NAMES.scripts, "keeper.sh");
}

/** The BASH_ENV of a waiting bash, which identifies its keeper. */
export function hookOf(keeperDir: string): string {
  return join(keeperDir, KEEPER_NAMES.scripts, "hook.sh");
}

/** The first program of a sandboxed session, then the files it reads. */
export function supervisorFiles(keeperDir: string): readonly [program: string, ...others: string[]] {
  return [
    join(keeperDir, KEEPER_NAMES.scripts, "supervisor.sh"),
    join(keeperDir, KEEPER_NAMES.scripts, "pipe.sh"),
  ];
}

export class KeeperScripts {
  readonly #keeperDir: string;
  #texts: ReadonlyMap<string, string> | undefined;

  constructor(keeperDir: string) {
    this.#keeperDir = keeperDir;
  }

  /**
   * Writes the copy, or restores it if it was removed. Reads the scripts from the package only once, and later writes
   * them from memory.
   */
  place(): void {
    this.#texts ??= new Map(NAMES.map((name) => [name, readFileSync(join(PACKAGED, name), "utf8")]));
    const dir = join(this.#keeperDir, KEEPER_NAMES.scripts);
    try {
      makeDirs(dir);
      for (const [name, text] of this.#texts) writeFileSync(join(dir, name), text, { mode: 0o600 });
    } catch (cause) {
      // A shortage can be temporary, so the caller retries (support/retry-shortage.ts).
      if (["EMFILE", "ENFILE", "ENOMEM"].includes(systemCode(cause) ?? "")) throw cause;
      // Remove the files here, because no keeper will. Keep a directory that contains other files: it belongs to a
      // running keeper.
      attempt(() => rmSync(dir, { recursive: true, force: true }));
      attempt(() => rmdirSync(this.#keeperDir));
      throw new NacreError(
        "spawn_failed",
        `The keeper did not start: cannot write to ${this.#keeperDir}: ${messageOf(cause)}. Free some space, or set NACRE_HOME to a directory you own.`,
        { cause },
      );
    }
  }

  /** False if the keeper's directory was removed while the host was running. A new slot would then not find hook.sh. */
  get areInPlace(): boolean {
    return existsSync(hookOf(this.#keeperDir));
  }
}
