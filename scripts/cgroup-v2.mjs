// Runs the limit tests on a kernel with cgroup v2 only. A controller that this machine's kernel has bound to v1 is not
// available to v2, so this script boots a second kernel as an ordinary process: User-mode Linux (Debian: apt-get install
// user-mode-linux; NACRE_UML names another executable).
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "./setup.mjs";

const CEILING_MS = 300_000;

/** Returns the exit status of the tests. */
export async function testCgroupV2() {
  const kernel = process.env.NACRE_UML ?? "linux.uml";
  const child = spawn(
    kernel,
    [
      ...["mem=1500M", "root=/dev/root", "rootfstype=hostfs", "hostfs=/", "rw", "quiet"],
      ...["con=null", "con0=null,fd:1", `init=${join(root, "scripts/cgroup-v2.sh")}`],
      // The kernel passes the arguments after -- to init.
      ...["--", root, process.execPath],
    ],
    { stdio: ["ignore", "pipe", "inherit"], timeout: CEILING_MS },
  );
  child.on("error", (error) => {
    console.log(`${kernel} cannot be started (${error.code}): apt-get install user-mode-linux`);
  });
  let status = 1;
  for await (const line of createInterface({ input: child.stdout })) {
    const [, code] = /^nacre-cgroup-v2: (\d+)/.exec(line) ?? [];
    if (code === undefined) console.log(line);
    else status = Number(code);
  }
  return status;
}
