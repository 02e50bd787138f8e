// A PID or a tag alone does not identify a shell: processes that reuse one are not mistaken for the shell.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readEndRecord } from "../../src/engine/end-record.ts";
import { readIdentity } from "../../src/engine/identity.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { killWithKeeper, useDurables } from "../fixtures/durable.ts";
import { Mark } from "../fixtures/marked.ts";
import { inPidNamespace, whyNoPidReuse } from "../fixtures/pid-reuse.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();
const durables = useDurables(shells);
const noReuse = whyNoPidReuse();
const reuseTitle = noReuse === undefined ? "" : ` (not here: ${noReuse})`;

test.skipIf(noReuse)(
  `a shell whose dead shim's PID was reused is lost, and the new process is not touched${reuseTitle}`,
  async () => {
    await inPidNamespace(async ({ prefix, outside, takePid, marked }) => {
      const root = durables.root();
      const marks = new Mark();
      const [own, foreign] = [marks.next(), marks.next()];
      const host = await durables.host(root, { prefix, isChild: true });
      const { id, shimPid } = await host.start({ command: `echo up; sleep ${own}`, durable: true });
      await host.ask("waitForLine", { id, line: "^up$" });
      await host.kill();
      process.kill(outside(shimPid), "SIGKILL");
      await takePid(shimPid, foreign);

      const next = await durables.host(root, { prefix, isChild: true });
      expect(await next.ask("adopt")).toMatchObject([{ id, status: "lost", exitCode: null }]);
      // The adoption ends the shell's processes because no shim watches them any more.
      expect(marks.processes(own)).toEqual([]);
      expect(await next.ask("kill", { id })).toEqual({ signalled: [], survivors: [] });
      expect(marked(foreign)).toEqual([shimPid]);
    });
  },
);

test.skipIf(noReuse).each(["auto", "best-effort"] as const)(
  `a process that has reused an ended command's PID is not touched, and neither is its group (%s)${reuseTitle}`,
  async (containment) => {
    await inPidNamespace(async ({ prefix, takePid, marked }) => {
      const root = durables.root();
      const foreign = new Mark().next();
      const options = { prefix, isChild: true, manager: { containment } };
      const host = await durables.host(root, options);
      const { id, commandPid } = await host.start({ command: "echo up; exit 5", durable: true });
      await host.wait(id);
      await killWithKeeper(host, root);
      await takePid(commandPid, foreign);

      const next = await durables.host(root, options);
      expect(await next.ask("adopt")).toMatchObject([{ id, exitCode: 5 }]);
      expect(await next.ask("kill", { id, graceMs: 200 })).toEqual({ signalled: [], survivors: [] });
      expect(marked(foreign)).toEqual([commandPid]);
    });
  },
);

test.each([
  ["another boot", 5, "deadbeef-0000-4000-8000-000000000000", "the machine has been restarted since", true],
  ["another pid namespace", 6, "4026530000", "it was started in another pid namespace", false],
] as const)(
  "a shell of %s is lost with that reason, and processes with its PIDs are not touched",
  async (_, field, value, reason, adopts) => {
    const root = durables.root();
    const marks = new Mark();
    const host = await durables.host(root);
    const { id, shimPid } = await host.start({ command: `echo up; sleep ${marks.next()}`, durable: true });
    await host.ask("waitForLine", { id, line: "^up$" });
    await eventually(() => expect(marks.processes()).toHaveLength(1));
    const spool = new StateRoot(root);
    const identified = () => spool.list().filter((one) => readIdentity(spool.files(one).identity));
    await eventually(() => expect(identified()).toHaveLength(3));
    // Wait until the keeper has ended the two waiting slots. By then it has read that the shell is durable.
    await host.kill();
    await eventually(() => expect(spool.list()).toEqual([id]));
    const { identity } = new StateRoot(root).files(id);
    const before = readFileSync(identity, "latin1");
    const words = before.trim().split(" ");
    words[field] = value;
    writeFileSync(identity, `${words.join(" ")}\n`);

    const manager = durables.manager(root);
    const adopted = await manager.adopt();
    expect(adopted.map((shell) => shell.id)).toEqual(adopts ? [id] : []);
    const shell = manager.getShell(id);
    expect(shell?.outcome).toEqual({ kind: "lost", reason });
    expect(shell?.exitCode).toBeNull();
    expect(await shell?.kill({ graceMs: 0 })).toEqual({ signalled: [], survivors: [] });
    expect(marks.processes()).toHaveLength(1);
    expect(isAlive(shimPid)).toBe(true);
    // A second adoption finds nothing.
    expect(await durables.manager(root).adopt()).toEqual([]);
    writeFileSync(identity, before);
  },
);

test.each([
  ["with another key", (_theirs: string, own: string) => own],
  ["with the same key", (theirs: string) => theirs],
  ["of a host without a key", () => undefined],
])("a tag that another host has reused (%s) identifies no process of the old shell", async (_, keyOf) => {
  const [root, elsewhere] = [durables.root(), durables.root()];
  const marks = new Mark();
  const dead = await durables.host(root);
  const { id } = await dead.start({ command: "exit 3", durable: true });
  await dead.wait(id);
  await dead.kill();
  const alive = await durables.host(elsewhere);
  const other = await alive.start({ command: `echo up; sleep ${marks.next()}` });
  await alive.ask("waitForLine", { id: other.id, line: "^up$" });
  await eventually(() => expect(marks.processes()).toHaveLength(1));
  // Give the first host's shell the tag of the second host, as if both hosts had drawn the same tag.
  const file = new StateRoot(root).files(id).identity;
  const [own, theirs] = [file, new StateRoot(elsewhere).files(other.id).identity].map(readIdentity);
  if (!own?.key || !theirs?.key) throw new Error("These hosts have no key.");
  const key = keyOf(theirs.key, own.key);
  const changed = key === undefined ? theirs.tag : `${theirs.tag}:${key}`;
  writeFileSync(file, readFileSync(file, "latin1").replace(`${own.tag}:${own.key}`, changed));
  expect(readIdentity(file)).toMatchObject({ tag: theirs.tag, key });

  const [shell] = await durables.manager(root).adopt();
  expect(shell?.id).toBe(id);
  expect(await shell?.kill({ graceMs: 0 })).toEqual({ signalled: [], survivors: [] });
  expect(marks.processes()).toHaveLength(1);
  expect(await alive.look(other.id)).toMatchObject({ status: "running" });
});

test("an unreadable file of a running shell affects only that shell", async () => {
  const root = durables.root();
  const marks = new Mark();
  const host = await durables.host(root);
  const spool = new StateRoot(root);
  const start = async () => {
    const started = await host.start({ command: `echo up; sleep ${marks.next()}`, durable: true });
    await host.ask("waitForLine", { id: started.id, line: "^up$" });
    return started.id;
  };
  const [mark, identity, meta, whole] = [await start(), await start(), await start(), await start()];
  await eventually(() => expect(marks.processes()).toHaveLength(4));
  writeFileSync(spool.files(mark).durable, "x[$(touch /nonexistent)] y\n");
  writeFileSync(spool.files(identity).identity, "garbage of no use");
  writeFileSync(spool.files(meta).meta, '{"version": 1, "id"');
  await host.kill();
  // A shell ends with its host if the keeper cannot read its deadline.
  await eventually(() => expect(marks.processes()).toHaveLength(2));
  // Wait for the exit record: without an identity, no process can check whether the shim is alive.
  for (const id of [mark, identity])
    await eventually(() => expect(readEndRecord(spool.files(id).record).exit).toBeTypeOf("object"));

  const manager = durables.manager(root);
  expect((await manager.adopt()).map(({ id }) => id).sort()).toEqual([mark, identity, whole].sort());
  for (const id of [mark, identity]) {
    await eventually(() =>
      expect(manager.getShell(id)?.outcome).toMatchObject({ kind: "killed", by: "the end of its host" }),
    );
  }
  expect(manager.getShell(meta)).toBeUndefined();
  expect(manager.getShell(whole)?.status).toBe("running");
  expect((await manager.getShell(whole)?.kill({ graceMs: 0 }))?.survivors).toEqual([]);
  for (const { pid } of marks.processes()) process.kill(pid, "SIGKILL");
});

test("an unreadable exit record never counts as a success, and affects only its own shell", async () => {
  const root = durables.root();
  const host = await durables.host(root);
  const started = [];
  const texts = ["", "X 0", "X 0 - 5 0 1.00\n", "\0".repeat(256), undefined];
  for (const text of texts)
    started.push({ text, ...(await host.start({ command: "exit 0", durable: true })) });
  for (const { id } of started) await host.wait(id);
  await host.kill();
  for (const { text, files } of started) if (text !== undefined) writeFileSync(files.record, text);
  const manager = durables.manager(root);
  await manager.adopt();
  for (const { id, text } of started) {
    const status = text === undefined ? "completed" : "lost";
    await eventually(() => expect(manager.getShell(id)?.status, text).toBe(status));
    expect(manager.getShell(id)?.exitCode, text).toBe(text === undefined ? 0 : null);
  }
});
