// Opens a file in the desktop's default program for it.
import { spawn } from "node:child_process";

/** Returns whether the program was started. Ignores its output and exit status. */
export async function openFile(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const child = spawn("xdg-open", [path], { detached: true, stdio: "ignore" });
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
    child.unref();
  });
}
