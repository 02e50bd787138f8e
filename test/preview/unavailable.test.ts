// In some environments previews do not work: nacre refuses them with the cause, and nothing runs. Each test
// prepares such an environment in the mount namespace of a separate program.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { CANNOT_MOUNT, canMount } from "../fixtures/special-host.ts";

const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");

/** Runs the first argument to prepare the workspace, then tries a preview there and lists the workspace. */
const SCRIPT = `
  mkdir -p "$BASE"/{project/inner,state,lower,upper,scratch} && export NACRE_HOME=$BASE/state
  eval "$1" && cd "$BASE/project" || exit
  "$NODE" "$PROGRAM" run --preview 'echo made >made' 2>&1
  echo "exit $?, made: $(ls -d made 2>/dev/null)"
`;

const CASES: readonly (readonly [name: string, setUp: string, cause: RegExp])[] = [
  [
    "a mount point in the workspace",
    'mount -t tmpfs nacre-test "$BASE/project/inner"',
    /project\/inner is a mount point inside the workspace.*Unmount it/,
  ],
  [
    "a state directory on overlayfs",
    'mount -t overlay nacre-test -o "lowerdir=$BASE/lower,upperdir=$BASE/upper,workdir=$BASE/scratch" "$BASE/state"',
    /is on overlayfs.*Set NACRE_HOME/,
  ],
  [
    "a workspace and a state directory on different file systems",
    'mount -t tmpfs nacre-test "$BASE/state"',
    /are on different file systems.*Set NACRE_HOME/,
  ],
  [
    "a read-only workspace",
    'mount --bind "$BASE/project" "$BASE/project" && mount -o remount,bind,ro "$BASE/project"',
    /is mounted read-only.*Mount it writable/,
  ],
  [
    "a machine without user namespaces",
    "echo 0 >/proc/sys/user/max_user_namespaces",
    /does not allow the namespaces/,
  ],
];

describeSandboxed("a preview is refused with the cause", () => {
  test.for(CASES)("on %s", ([, setUp, cause], { skip }) => {
    skip(!canMount(), CANNOT_MOUNT);
    const base = mkdtempSync("/var/tmp/nacre-test-");
    try {
      const env = { ...process.env, BASE: base, NODE: process.execPath, PROGRAM };
      const args = ["-rm", "bash", "-c", SCRIPT, "bash", setUp];
      const printed = execFileSync("unshare", args, { env, encoding: "utf8" });
      expect(printed).toMatch(/Previews do not work here, so nothing was run: /);
      expect(printed).toMatch(cause);
      expect(printed).toMatch(/exit [1-9]\d*, made: \n$/);
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });
});
