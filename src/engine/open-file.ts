// Opens a file in the desktop's default program for it.
import { spawn } from "node:child_process";

/** Returns whether the program opened the file. Resolves when xdg-open exits, which can be as late as the browser. */
export async function openFile(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const child = spawn("xdg-open", [path], { detached: true, stdio: "ignore" });
    child.once("exit", (code) => resolve(code === 0));
    child.once("error", () => resolve(false));
    child.unref();
  });
}
