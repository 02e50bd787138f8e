// Finds the bash that runs all commands and scripts, or explains why there is no usable bash.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { messageOf, NacreError } from "../support/errors.ts";
import { systemCode } from "../support/system-error.ts";

const USUAL_DIRS = ["/bin", "/usr/bin", "/usr/local/bin"];

/** An absolute path of an executable bash: the chosen one, else the first one in PATH or in the usual directories. */
export function findBash(chosen: string | undefined, path: string | undefined): string {
  if (process.platform === "win32") {
    throw new NacreError("spawn_failed", "nacre does not run on Windows: it needs bash and /proc. Use WSL.");
  }
  if (chosen !== undefined) {
    const problem = isAbsolute(chosen) ? problemWith(chosen) : "it is not an absolute path";
    if (problem) throw new NacreError("spawn_failed", `The shell ${chosen} cannot be used: ${problem}.`);
    return chosen;
  }
  const dirs = [...(path ?? "").split(delimiter).filter(isAbsolute), ...USUAL_DIRS];
  const found = dirs.map((dir) => join(dir, "bash")).find((file) => problemWith(file) === undefined);
  if (!found) {
    throw new NacreError(
      "spawn_failed",
      "No bash was found in PATH, /bin, /usr/bin or /usr/local/bin. Install bash, or name it with the shellPath option.",
    );
  }
  return found;
}

function problemWith(file: string): string | undefined {
  try {
    if (!statSync(file).isFile()) return "it is not a file";
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return "it does not exist";
    return code === "EACCES" ? "it cannot be reached (permission denied)" : messageOf(error);
  }
  try {
    accessSync(file, constants.X_OK);
    return undefined;
  } catch {
    return "it is not executable";
  }
}
