// A disk that fills up during a commit. The workspace and the state root are on a small tmpfs in a mount namespace of
// the test's own program.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { CANNOT_MOUNT, canMount, onSmallDisk } from "../fixtures/special-host.ts";

const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");

/** Prints one line per fact. */
const SCRIPT = `
  mkdir "$DISK/work" "$DISK/state" && cd "$DISK/work" || exit
  export NACRE_HOME=$DISK/state
  nacre() { "$NODE" "$PROGRAM" "$@" 2>&1; }
  tree() { find . -type f -printf '%f %s ' | xargs -n2 | sort | xargs; }
  head -c 16000000 /dev/zero >"$DISK/ballast"
  head -c 1000000 /dev/zero >removed; echo old >changed
  nacre run --preview 'head -c 3500000 /dev/zero >created; echo newer >changed; rm removed' >/dev/null
  echo "preview $? $(tree)"
  id=$(basename "$NACRE_HOME"/previews/preview_*)
  echo "commit $(nacre preview commit "$id")"
  echo "full $(tree)"
  rm "$DISK/ballast"
  nacre preview commit "$id" >/dev/null; echo "roomy $? $(tree)"
  nacre undo >/dev/null; echo "undone $? $(tree)"
`;

describeSandboxed("a commit on a full disk", () => {
  test("writes nothing, says what to do, and succeeds when there is room", ({ skip }) => {
    skip(!canMount(), CANNOT_MOUNT);
    const disk = mkdtempSync("/var/tmp/nacre-test-");
    try {
      const [file = "", ...args] = [...onSmallDisk(disk, "size=24m"), "bash", "-c", SCRIPT];
      const env = { ...process.env, DISK: disk, NODE: process.execPath, PROGRAM };
      const lines = execFileSync(file, args, { env, encoding: "utf8" }).trimEnd().split("\n");
      expect(lines).toEqual([
        "preview 0 changed 4 removed 1000000",
        expect.stringMatching(
          /^commit nacre: No space is left for .*, so nothing was written to the workspace\. Free some space/,
        ),
        "full changed 4 removed 1000000",
        "roomy 0 changed 6 created 3500000",
        "undone 0 changed 4 removed 1000000",
      ]);
    } finally {
      rmSync(disk, { recursive: true, force: true });
    }
  });
});
