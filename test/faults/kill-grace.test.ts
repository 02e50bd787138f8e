// A toolkit with its own kill grace period waits that long for the traps of a cancelled command, not for the
// default period.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createToolkit } from "../../src/toolkit.ts";
import { isLong } from "../fixtures/long.ts";

test.runIf(isLong)(
  "a trap that runs longer than the default grace finishes, and its output is returned",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "nacre-test-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    await using kit = await createToolkit({
      workingDir: dir,
      stateRoot: join(dir, "state"),
      policy: "off",
      killGraceMs: 30_000,
    });
    const cancel = new AbortController();
    const call = kit.call(
      "Bash",
      { command: "trap 'sleep 11; echo cleaned; exit 7' INT; touch ready; sleep 1000" },
      { signal: cancel.signal },
    );
    await kit.run("until [[ -e ready ]]; do sleep 0.02; done");
    cancel.abort();
    expect((await call).toWire()).toMatchObject({ output: expect.stringContaining("cleaned") });
  },
);
