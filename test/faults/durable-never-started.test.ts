// A host dies during a start. Its keeper, its deputy or the next host cleans up: no slot waits forever.
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { killWithKeeper, useDurables, waiting } from "../fixtures/durable.ts";
import { deputyPids, isServing, keeperPid, Mark, processesWith } from "../fixtures/marked.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();
const durables = useDurables(shells);

const NEVER_STARTED = {
  kind: "failedToStart",
  reason: "never started: its host was killed before the command could begin",
};

/** What happens to the keeper of a killed host, and to its deputy. */
type Fate = "lives" | "is killed, too" | "is killed with its deputy";
const FATES: readonly Fate[] = ["lives", "is killed, too", "is killed with its deputy"];

/** Runs a host that kills itself at `point` of a command's start. The command writes `witness` if it runs. */
async function dieAt(
  point: string,
  { root, keeper, durable }: { root: string; keeper: Fate; durable: boolean },
): Promise<{ witness: string }> {
  const witness = join(shells.directory(), "witness");
  const host = await durables.host(root, { manager: { poolSize: 1 } });
  const { id } = await host.start({ command: "true" });
  await host.wait(id);
  // Wait until a slot is ready, so that the start needs nothing more from the keeper.
  await eventually(() => expect(waiting(root)).toHaveLength(1));
  const pid = keeperPid(root, host.pid);
  await eventually(() => expect(isServing(pid)).toBe(true));
  // Stop the keeper, so that it cannot act between its host's death and its own.
  if (keeper !== "lives") process.kill(pid, "SIGSTOP");
  const deputies = keeper === "is killed with its deputy" ? deputyPids(root) : [];
  await host.ask("dieAt", { point, first: keeper === "lives" ? [] : [...deputies, pid] });
  const options = { command: `echo ran | tee ${witness}; exit 6`, workingDir: "/", durable };
  await host.dieOf("start", { options });
  if (keeper !== "lives") await eventually(() => expect([...deputies, pid].some(isAlive)).toBe(false));
  return { witness };
}

const CASES = [true, false].flatMap((durable) =>
  FATES.map((keeper) => ({
    durable,
    keeper,
    what: `a ${durable ? "durable" : "plain"} shell whose host is killed, the keeper ${keeper}`,
  })),
);

test("a shell whose host is killed between meta and job is reported as never started, and no slot is left", async () => {
  await Promise.all(
    CASES.map(async ({ what, ...plan }) => {
      const root = durables.root();
      const { witness } = await dieAt("after meta", { root, ...plan });
      const manager = durables.manager(root);
      if (plan.keeper === "is killed with its deputy") expect(waiting(root), what).toHaveLength(1);
      await manager.adopt();
      await eventually(() => expect(processesWith(`${root}/`), what).toEqual([]));
      const shell = manager.findAll().find(({ command }) => command.includes(witness));
      expect(shell?.outcome, what).toEqual(NEVER_STARTED);
      expect(shell?.status, what).toBe("failed");
      expect(existsSync(witness), what).toBe(false);
    }),
  );
});

test("a start whose host is killed before the meta is written leaves no process and no file", async () => {
  await Promise.all(
    CASES.map(async ({ what, ...plan }) => {
      const root = durables.root();
      const { witness } = await dieAt("before meta", { root, ...plan });
      const manager = durables.manager(root);
      await manager.adopt();
      await eventually(() => expect(processesWith(`${root}/`), what).toEqual([]));
      expect(
        manager.findAll().map(({ command }) => command),
        what,
      ).toEqual(["true"]);
      await eventually(() => expect(readdirSync(join(root, "shells")), what).toHaveLength(1));
      expect(readdirSync(join(root, "keepers")), what).toEqual([]);
      expect(existsSync(witness), what).toBe(false);
    }),
  );
});

test.each(FATES)(
  "a durable shell that was sent its job runs although its host is killed right after that (the keeper %s)",
  async (keeper) => {
    const root = durables.root();
    const { witness } = await dieAt("after job", { root, keeper, durable: true });
    const manager = durables.manager(root);
    await manager.adopt();
    const shell = manager.findAll().find(({ command }) => command.includes(witness));
    expect(await shell?.wait(20_000)).toBe(6);
    expect(shell?.getAllOutput()).toBe("ran\n");
  },
);

test("the next host ends the shells and waiting slots of a host that was killed with its keeper and deputy", async () => {
  const root = durables.root();
  const marks = new Mark();
  const host = await durables.host(root);
  const { id } = await host.start({
    command: `setsid sleep ${marks.next()} & echo up; sleep ${marks.next()}`,
  });
  await host.ask("waitForLine", { id, line: "^up$" });
  await eventually(() => expect(marks.processes()).toHaveLength(2));
  await eventually(() => expect(waiting(root)).toHaveLength(2));
  await killWithKeeper(host, root);
  expect(marks.processes()).toHaveLength(2);
  expect(waiting(root)).toHaveLength(2);

  const manager = durables.manager(root);
  expect(await manager.adopt()).toEqual([]);
  expect(marks.processes()).toEqual([]);
  await eventually(() => expect(processesWith(`${root}/`)).toEqual([]));
  expect(manager.getShell(id)?.outcome).toMatchObject({ kind: "killed", by: "the end of its host" });
  expect(readdirSync(join(root, "shells"))).toEqual([id]);
});

test("the waiting slots and the keeper of a live host are left alone", async () => {
  const root = durables.root();
  const host = await durables.host(root);
  await host.wait((await host.start({ command: "true" })).id);
  await eventually(() => expect(waiting(root)).toHaveLength(2));
  const before = { slots: waiting(root), keepers: readdirSync(join(root, "keepers")) };
  await durables.manager(root).adopt();
  expect({ slots: waiting(root), keepers: readdirSync(join(root, "keepers")) }).toEqual(before);
  const { id } = await host.start({ command: "exit 3" });
  expect(await host.wait(id)).toMatchObject({ exitCode: 3 });
});

test("a durable shell keeps running when the directory of its dead keeper is removed", async () => {
  const root = durables.root();
  const go = join(shells.directory(), "go");
  const host = await durables.host(root);
  const { id } = await host.start({
    command: `until [[ -e ${go} ]]; do sleep 0.02; done; seq 5000; exit 2`,
    durable: true,
  });
  await killWithKeeper(host, root);
  const manager = durables.manager(root);
  const [shell] = await manager.adopt();
  expect(shell?.id).toBe(id);
  // The shim still needs the keeper's directory.
  expect(readdirSync(join(root, "keepers"))).toEqual([expect.stringMatching(`^${host.pid}-`)]);
  writeFileSync(go, "");
  expect(await shell?.wait(20_000)).toBe(2);
  expect(shell?.remarks).toEqual([]);
  await manager.adopt();
  expect(readdirSync(join(root, "keepers"))).toEqual([]);
});
