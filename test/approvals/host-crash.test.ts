// If a host is killed while its call waits for approval, the request is abandoned. One identical call reopens it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createToolkit } from "../../src/toolkit.ts";
import { helper } from "../fixtures/marked.ts";
import { useShells } from "../fixtures/shells.ts";

const { directory } = useShells();
const COMMAND = "find . -delete";

/** Starts a host whose call waits for approval, kills the host, and returns the id of the request. */
async function killedHost(base: string): Promise<string> {
  const args = [helper("approval-host.mjs"), join(base, "state"), join(base, "work"), COMMAND];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  return String(line).trim();
}

function newWorkspace(): { base: string; file: string; kit: () => ReturnType<typeof createToolkit> } {
  const base = directory();
  mkdirSync(join(base, "work"));
  const file = join(base, "work/file");
  writeFileSync(file, "");
  return {
    base,
    file,
    kit: () => createToolkit({ workingDir: join(base, "work"), stateRoot: join(base, "state") }),
  };
}

test("an identical call reopens the request with its answer", async () => {
  const { base, file, kit } = newWorkspace();
  const id = await killedHost(base);
  await using next = await kit();
  expect(next.approvals.get(id)).toMatchObject({ status: "abandoned", waiting: false });
  next.approvals.approve(id);
  expect(existsSync(file)).toBe(true);
  expect(await next.call("Bash", { command: COMMAND })).toMatchObject({ success: true });
  expect(existsSync(file)).toBe(false);
});

test("a request is reopened only once", async () => {
  const { base, kit } = newWorkspace();
  const id = await killedHost(base);
  expect(await killedHost(base)).toBe(id);
  const third = await killedHost(base);
  expect(third).not.toBe(id);
  await using next = await kit();
  expect(next.approvals.list()).toMatchObject([
    { id, status: "abandoned" },
    { id: third, status: "abandoned" },
  ]);
  expect((await next.call("Bash", { command: COMMAND })).metadata.approval_id).toBe(third);
});

test("a call in another scope does not reopen the request", async () => {
  const { base, kit } = newWorkspace();
  const id = await killedHost(base);
  await using next = await kit();
  const other = await next.call("Bash", { command: COMMAND }, { scope: "other" });
  expect(other.code).toBe("approval_pending");
  expect(other.metadata.approval_id).not.toBe(id);
});
