// Copies the mode, the access control list and the extended attributes of one open file to another, with cp: Node has
// no functions for access control lists and extended attributes.
import { spawn } from "node:child_process";
import { PROBE_MAX_MS } from "../support/limits/engine-limits.ts";

/** False if cp could not copy them all. */
export async function copyAttributes(fromFd: number, toFd: number): Promise<boolean> {
  // Name both files by descriptor: a path may lead to another file by now, or contain bytes that are not text.
  const args = ["--attributes-only", "--preserve=mode,xattr", "--", "/proc/self/fd/3", "/proc/self/fd/4"];
  return await new Promise((resolve) => {
    const child = spawn("cp", args, {
      stdio: ["ignore", "ignore", "ignore", fromFd, toFd],
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
      timeout: PROBE_MAX_MS,
      killSignal: "SIGKILL",
    });
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
}
