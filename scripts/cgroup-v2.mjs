// npm run test:cgroups: the tests of limits on a kernel whose control groups are version 2 alone. A machine that
// has bound the controllers to version 1 cannot give them back, so a second kernel is started as an ordinary process:
// User-mode Linux (Debian: apt-get install user-mode-linux; NACRE_UML names another place).
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ensureBuilt, root } from "./setup.mjs";

const CEILING_MS = 300_000;
const kernel = process.env.NACRE_UML ?? "linux.uml";

ensureBuilt();
const child = spawn(
  kernel,
  [
    ...["mem=1500M", "root=/dev/root", "rootfstype=hostfs", "hostfs=/", "rw", "quiet"],
    ...["con=null", "con0=null,fd:1", `init=${join(root, "scripts/cgroup-v2.sh")}`],
    // What the kernel does not know goes to init.
    ...["--", root, process.execPath],
  ],
  { stdio: ["ignore", "pipe", "inherit"], timeout: CEILING_MS },
);
child.on("error", (error) => {
  console.log(`${kernel} cannot be started (${error.code}): apt-get install user-mode-linux`);
  process.exit(1);
});
let status = 1;
for await (const line of createInterface({ input: child.stdout })) {
  const [, code] = /^nacre-cgroup-v2: (\d+)/.exec(line) ?? [];
  if (code === undefined) console.log(line);
  else status = Number(code);
}
process.exit(status);
