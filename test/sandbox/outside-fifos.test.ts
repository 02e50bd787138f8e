// A read-only mount does not prevent writes to a fifo. These tests document this gap and the protection that
// works.
import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";

const world = useSandboxWorld();
const { workspace, outside } = world;
const fifo = join(outside, "fifo");
const inTmp = `/tmp/nacre-test-fifo-${process.pid}`;
let reader = -1;

beforeEach(() => {
  execFileSync("mkfifo", [fifo, inTmp]);
  reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
});

afterEach(() => {
  closeSync(reader);
  for (const path of [fifo, inTmp]) rmSync(path, { force: true });
});

function received(): string {
  const bytes = Buffer.alloc(100);
  return bytes.toString("utf8", 0, readSync(reader, bytes));
}

describeSandboxed("a command in a sandbox", () => {
  test.each(["read-only", "workspace-write"] as const)(
    "can write to a fifo outside the workspace: %s",
    async (sandbox) => {
      await runIn(world.manager({ sandbox }), `echo sent >'${fifo}'`, workspace);
      expect(received()).toBe("sent\n");
    },
  );

  test("cannot write to a hidden fifo or to a fifo in /tmp", async () => {
    const manager = world.manager({ sandbox: "read-only", hide: [fifo] });
    const shell = await runIn(manager, `echo sent >'${fifo}'; [[ -e ${inTmp} ]] || echo unseen`, workspace);
    expect(received()).toBe("");
    expect(shell.getAllOutput()).toContain("unseen");
    expect(shell.getAllOutput()).toContain("Permission denied");
  });

  test("can neither create nor remove a fifo outside the workspace", async () => {
    const manager = world.manager({ sandbox: "workspace-write" });
    const shell = await runIn(manager, `mkfifo '${outside}/other'; rm -f '${fifo}'`, workspace);
    expect(shell.getAllOutput().match(/Read-only file system/g)).toHaveLength(2);
  });
});
