import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { keeperDirOfWaitingBash, progressOf, readStartedShell } from "../../src/engine/attach.ts";
import { readIdentity, type ShellIdentity } from "../../src/engine/identity.ts";
import { readStat } from "../../src/engine/process-table.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, run } = useShells();

test("a shell that is read from disk equals the shell in its host's memory", async () => {
  const shells = manager();
  const { started } = await shells.createShell({ command: "sleep 300", workingDir: tmpdir(), scope: "s" });
  const found = readStartedShell(shells.root, started.id);
  const { id, files, meta, shimPid, shimStart, commandPid, commandStart, tag } = started;
  expect(found).toMatchObject({ id, files, meta, shimPid, shimStart, commandPid, commandStart, tag });
  expect(found).toMatchObject({ attached: true, origin: "here" });
  expect(found?.unseen).toBeUndefined();
});

test("a shell without a tag is found", async () => {
  const shells = manager({ containment: "best-effort" });
  const { id } = await run(shells, "true");
  expect(readStartedShell(shells.root, id)).toMatchObject({ tag: undefined, origin: "here" });
});

test.each([
  ["of another boot", 5, "deadbeef-0000-4000-8000-000000000000", "another boot"],
  ["of another namespace", 6, "1", "another namespace"],
] as const)(
  "a shell %s is detected, and its processes cannot be inspected",
  async (_, field, value, origin) => {
    const shells = manager();
    const { id, started } = await run(shells, "true");
    const words = readFileSync(started.files.identity, "latin1").trim().split(" ");
    words[field] = value;
    writeFileSync(started.files.identity, `${words.join(" ")}\n`);
    expect(readStartedShell(shells.root, id)).toMatchObject({ origin, unseen: expect.any(String) });
  },
);

test("a shell without an identity is found, and its processes cannot be inspected", async () => {
  const shells = manager();
  const { id, started } = await run(shells, "true");
  rmSync(started.files.identity);
  expect(readStartedShell(shells.root, id)).toMatchObject({
    origin: "unknown",
    unseen: "its identity file is missing or unreadable",
    shimPid: 0,
    tag: undefined,
  });
});

test("a directory without a readable meta, or with the meta of another shell, is not a shell", async () => {
  const shells = manager();
  const { id, started } = await run(shells, "true");
  const meta = readFileSync(started.files.meta, "utf8");
  writeFileSync(started.files.meta, meta.replace(id, "shell_ffffffff"));
  expect(readStartedShell(shells.root, id)).toBeUndefined();
  rmSync(started.files.meta);
  expect(readStartedShell(shells.root, id)).toBeUndefined();
  expect(readStartedShell(shells.root, "shell_00000000")).toBeUndefined();
});

/**
 * Waits until this process, which is the host, has read the shim's report of a slot. The shim sends the
 * report before bash waits for its job (a read of fd 21; 0 and 63 are the numbers of read on x86-64 and
 * arm64). The event loop reads the report within two turns.
 */
async function reportedToHost({ shimPid }: ShellIdentity): Promise<void> {
  await eventually(() => expect(readFileSync(`/proc/${shimPid}/syscall`, "latin1")).toMatch(/^(0|63) 0x15 /));
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}

test("a bash without a job is waiting; a bash that has a job or has ended has begun", async () => {
  const shells = manager({ poolSize: 1 });
  const ended = await run(shells, "true");
  expect(progressOf(ended.started)).toBe("begun");
  const slot = await eventually(() => {
    const [id = ""] = shells.root.list().filter((name) => name !== ended.id);
    const identity = readIdentity(shells.root.files(id).identity);
    if (!identity) throw new Error("no slot is ready");
    expect(progressOf(identity)).toBe("waiting");
    return identity;
  });
  expect(keeperDirOfWaitingBash(slot.commandPid)).toMatch(/\/keepers\/\d+-[0-9a-f]{8}$/);
  // Another process with the same PID does not count as waiting.
  expect(progressOf({ ...slot, commandStart: "0" })).toBe("begun");
  await reportedToHost(slot);
  const shell = await shells.createShell({ command: "echo up; sleep 300", workingDir: tmpdir() });
  expect(shell.started.commandPid).toBe(slot.commandPid);
  await shell.waitFor({ pattern: /^up$/ }, 20_000);
  expect(progressOf(shell.started)).toBe("begun");
  expect(keeperDirOfWaitingBash(slot.commandPid)).toBeUndefined();
});

test("a bash that is stopped before it has read its job does not count as waiting", async () => {
  const shells = manager({ poolSize: 1 });
  await run(shells, "true");
  const slot = await eventually(() => {
    const waiting = shells.root
      .list()
      .flatMap((id) => readIdentity(shells.root.files(id).identity) ?? [])
      .find((identity) => progressOf(identity) === "waiting");
    if (!waiting) throw new Error("no slot is ready");
    return waiting;
  });
  process.kill(slot.commandPid, "SIGSTOP");
  await eventually(() => expect(readStat(slot.commandPid)?.state).toBe("T"));
  expect(progressOf(slot)).toBe("unclear");
  process.kill(slot.commandPid, "SIGCONT");
  await eventually(() => expect(progressOf(slot)).toBe("waiting"));
});
