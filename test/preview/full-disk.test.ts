// The disk fills up during a commit. The workspace and the state root are on a small tmpfs, in the mount
// namespace of a separate program.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { CANNOT_MOUNT, canMount, onSmallDisk } from "../fixtures/special-host.ts";

const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");

const SET_UP = `
  mkdir "$DISK/work" "$DISK/state" && cd "$DISK/work" || exit
  export NACRE_HOME=$DISK/state
  nacre() { "$NODE" "$PROGRAM" "$@" 2>&1; }
  tree() { find . -type f -printf '%f %s ' | xargs -n2 | sort | xargs; }
  # Leaves this many bytes free.
  fill() { head -c "$(($(df --block-size=1 --output=avail "$DISK" | tail -n 1) - $1))" /dev/zero >"$DISK/ballast"; }
`;

/** The disk has no room for the files of the commit. Like the scripts below, this one prints one line per fact. */
const STAGING_FAILS = `
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

/**
 * The disk has room for the first journal, but not for the second one, which is larger and is written after
 * the steps.
 */
const LAST_WRITE_FAILS = `
  echo old >changed; echo twin >twin1; ln twin1 twin2; mkdir d; touch -d 2001-01-01 d
  state() { find . -printf '%p %y %m %s %n %i %T@\\n' | sort | sha256sum; }
  before=$(state)
  nacre run --preview 'echo newer >changed; rm twin1; touch d/f; mkdir new; for i in {1..2000}; do : >"new/$(printf %0200d $i)"; done' >/dev/null
  id=$(basename "$NACRE_HOME"/previews/preview_*)
  fill 1200000
  echo "commit $(nacre preview commit "$id")"
  [[ $(state) == "$before" ]] && echo unchanged
  echo "left $(ls "$NACRE_HOME/previews/pending" "$NACRE_HOME/previews/$id" | grep -E '^(commit|preview_)')"
  rm "$DISK/ballast"
  nacre preview commit "$id" | head -n 1; echo "roomy $(ls | xargs) $(ls new | wc -l)"
  nacre undo >/dev/null; echo "undone $?"
  [[ $(state) == "$before" ]] && echo unchanged
`;

/** The disk has room for the commit, but not for the list of the remaining pending changes. */
const RECORD_FAILS = `
  nacre run --preview 'echo 1 >one; mkdir new; for i in {1..2000}; do : >"new/$(printf %0200d $i)"; done' >/dev/null
  id=$(basename "$NACRE_HOME"/previews/preview_*)
  fill 300000
  echo "commit $(nacre preview commit "$id" one)"
  echo "full $(tree)"
  rm "$DISK/ballast"
  nacre preview commit "$id" >/dev/null; echo "rest $? $(ls | xargs)"
  nacre undo "$id" >/dev/null; nacre undo "$id" >/dev/null; echo "undone $? $(ls)"
`;

function factsOf(script: string): string[] {
  const disk = mkdtempSync("/var/tmp/nacre-test-");
  try {
    const [file = "", ...args] = [...onSmallDisk(disk, "size=24m"), "bash", "-c", SET_UP + script];
    const env = { ...process.env, DISK: disk, NODE: process.execPath, PROGRAM };
    return execFileSync(file, args, { env, encoding: "utf8" }).trimEnd().split("\n");
  } finally {
    rmSync(disk, { recursive: true, force: true });
  }
}

describeSandboxed("a commit on a full disk", () => {
  beforeEach(({ skip }) => skip(!canMount(), CANNOT_MOUNT));

  test("writes nothing, names the fix, and succeeds when there is room", () => {
    expect(factsOf(STAGING_FAILS)).toEqual([
      "preview 0 changed 4 removed 1000000",
      expect.stringMatching(
        /^commit nacre: No space is left for .*, so nothing was written to the workspace\. Free some space/,
      ),
      "full changed 4 removed 1000000",
      "roomy 0 changed 6 created 3500000",
      "undone 0 changed 4 removed 1000000",
    ]);
  });

  test("undoes its steps if the journal cannot be marked as done", () => {
    expect(factsOf(LAST_WRITE_FAILS)).toEqual([
      expect.stringMatching(/^commit nacre: No space is left on the disk, so .* the workspace is as it was/),
      "unchanged",
      "left ",
      expect.stringMatching(/^Committed/),
      "roomy changed d new twin2 2000",
      "undone 0",
      "unchanged",
    ]);
  });

  test("reports that the changes are in the workspace if only its record cannot be written", () => {
    expect(factsOf(RECORD_FAILS)).toEqual([
      expect.stringMatching(/^commit nacre: The changes of preview \S+ are in the workspace, but/),
      "full one 2",
      "rest 0 new one",
      "undone 0",
    ]);
  });
});
