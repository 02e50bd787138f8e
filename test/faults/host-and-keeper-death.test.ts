// If a host and its keeper are killed together, the keeper's deputy cleans up.
import { randomInt } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readEndRecord } from "../../src/engine/end-record.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { removeAbandonedKeepers } from "../../src/shell/abandoned-keepers.ts";
import { POOL_SLOTS_COUNT } from "../../src/support/limits.ts";
import { useDurables, waiting } from "../fixtures/durable.ts";
import { isLong } from "../fixtures/long.ts";
import { keeperPid, killQuietly, Mark, parentOf, processesWith } from "../fixtures/marked.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";
import type { SpecialHost } from "../fixtures/special-host.ts";

const shells = useShells();
const durables = useDurables(shells);

type Order = "the keeper first" | "the host first" | "the keeper during its clean-up";
const ORDERS: readonly Order[] = ["the keeper first", "the host first", "the keeper during its clean-up"];

async function killBoth(host: SpecialHost, root: string, order: Order = "the keeper first"): Promise<void> {
  const keeper = keeperPid(root, host.pid);
  if (order === "the keeper during its clean-up") {
    process.kill(keeper, "SIGSTOP");
    await host.kill();
    process.kill(keeper, "SIGKILL");
    return;
  }
  const pids = order === "the host first" ? [host.pid, keeper] : [keeper, host.pid];
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await host.kill();
}

/** Expects no process, no directory of a keeper, and only these shells on disk. */
async function expectNothingLeft(root: string, ids: readonly string[]): Promise<void> {
  await eventually(() => expect(processesWith(`${root}/`)).toEqual([]));
  await eventually(() => expect(readdirSync(join(root, "keepers"))).toEqual([]));
  expect(readdirSync(join(root, "shells")).sort()).toEqual([...ids].sort());
}

test.each(ORDERS)("a waiting slot ends by itself (killed: %s)", async (order) => {
  const root = durables.root();
  const host = await durables.host(root, { manager: { poolSize: 3 } });
  const { id } = await host.start({ command: "true" });
  await host.wait(id);
  await eventually(() => expect(waiting(root)).toHaveLength(3));
  await killBoth(host, root, order);
  await expectNothingLeft(root, [id]);
});

test("a session ends, whether it waits for a command or runs one", async () => {
  const root = durables.root();
  const marks = new Mark();
  const host = await durables.host(root);
  const idle = await host.ask<{ pid: number }>("session", { id: "idle", command: `sleep ${marks.next()} &` });
  await host.ask("sessionBegins", { id: "busy", command: `trap '' HUP; sleep ${marks.next()}` });
  await eventually(() => expect(marks.processes()).toHaveLength(2));
  expect(isAlive(idle.pid)).toBe(true);
  // Wait for all slots, because a slot that is still starting is not in any list yet.
  await eventually(() => expect(waiting(root)).toHaveLength(POOL_SLOTS_COUNT));
  const before = readdirSync(join(root, "shells"));
  await killBoth(host, root);
  await eventually(() => expect(marks.processes()).toEqual([]));
  await eventually(() => expect(isAlive(idle.pid)).toBe(false));
  await eventually(() => expect(processesWith(`${root}/`)).toEqual([]));
  await eventually(() => expect(readdirSync(join(root, "keepers"))).toEqual([]));
  expect(before).toEqual(expect.arrayContaining(readdirSync(join(root, "shells"))));
});

for (const containment of ["auto", "best-effort"] as const) {
  test.each(ORDERS)(
    `a running shell ends with all of its processes, and its record contains the cause; containment ${containment} (killed: %s)`,
    async (order) => {
      const root = durables.root();
      const marks = new Mark();
      const host = await durables.host(root, { manager: { containment } });
      const { id } = await host.start({
        command: `setsid sleep ${marks.next()} & (sleep ${marks.next()} &); echo up; sleep ${marks.next()}`,
      });
      await host.ask("waitForLine", { id, line: "^up$" });
      await eventually(() => expect(marks.processes()).toHaveLength(3));
      // Wait until no slot is starting: the keeper does not know the directory of such a slot yet, so only a
      // sweep would remove it.
      await eventually(() => expect(waiting(root)).toHaveLength(2));
      await killBoth(host, root, order);
      await eventually(() => expect(marks.processes()).toEqual([]));
      await expectNothingLeft(root, [id]);
      expect(readEndRecord(new StateRoot(root).files(id).record)).toMatchObject({
        exit: { code: 137 },
        cause: { kind: "host-ended" },
      });
    },
  );
}

test("a durable shell keeps running until its deadline", async () => {
  // Run both cases in parallel: each mostly waits.
  await Promise.all((["auto", "best-effort"] as const).map(outlive));
});

async function outlive(containment: "auto" | "best-effort"): Promise<void> {
  const root = durables.root();
  const marks = new Mark();
  const go = join(shells.directory(), "go");
  const host = await durables.host(root, { manager: { containment } });
  const start = async (plan: { command: string; durable?: boolean; timeoutMs?: number }) => {
    const started = await host.start({ ...plan, command: `echo up; ${plan.command}` });
    await host.ask("waitForLine", { id: started.id, line: "^up$" });
    return started;
  };
  const mortal = await start({ command: `sleep ${marks.next()}` });
  const durable = await start({
    command: `until [[ -e ${go} ]]; do sleep 0.02; done; echo done; exit 7`,
    durable: true,
  });
  const late = await start({ command: `sleep ${marks.next()}`, durable: true, timeoutMs: 1_500 });
  await eventually(() => expect(waiting(root)).toHaveLength(2));
  await killBoth(host, root);
  await eventually(() => expect(waiting(root)).toEqual([]));
  // No host adopts the late shell: the deputy ends it at its deadline.
  await eventually(() => expect(marks.processes()).toEqual([]));
  expect(isAlive(durable.commandPid)).toBe(true);
  // Another host treats the deputy as the keeper, and does not remove the keeper's directory.
  removeAbandonedKeepers(new StateRoot(root));
  expect(readdirSync(join(root, "keepers"))).toEqual([expect.stringMatching(`^${host.pid}-`)]);
  writeFileSync(go, "");
  await expectNothingLeft(root, [mortal.id, durable.id, late.id]);
  const manager = durables.manager(root, { containment });
  expect(manager.getShell(durable.id)?.exitCode).toBe(7);
  expect(manager.getShell(durable.id)?.getAllOutput()).toBe("up\ndone\n");
  expect(manager.getShell(late.id)?.outcome).toMatchObject({ kind: "timedOut", afterMs: 1_500 });
  expect(manager.getShell(mortal.id)?.outcome).toMatchObject({ kind: "killed", by: "the end of its host" });
}

test("the deputy survives the death of the keeper's process group and cleans up", async () => {
  const root = durables.root();
  const marks = new Mark();
  const host = await durables.host(root);
  const { id } = await host.start({
    command: `echo up; setsid sleep ${marks.next()} & sleep ${marks.next()}`,
  });
  await host.ask("waitForLine", { id, line: "^up$" });
  await eventually(() => expect(marks.processes()).toHaveLength(2));
  const keeper = keeperPid(root, host.pid);
  for (const pid of [-keeper, host.pid]) process.kill(pid, "SIGKILL");
  await host.kill();
  await eventually(() => expect(marks.processes()).toEqual([]));
  // The shims died without a report, but the cause is on disk.
  await eventually(() => expect(processesWith(`${root}/`)).toEqual([]));
  expect(readEndRecord(new StateRoot(root).files(id).record)).toMatchObject({
    exit: "pending",
    cause: { kind: "host-ended" },
  });
});

const ROUNDS = isLong ? 200 : 6;

test(`${ROUNDS} hosts that are killed with their keepers at random moments leave no process`, {
  timeout: Math.max(120_000, ROUNDS * 5_000),
}, async () => {
  // Run four rounds at a time: each mostly waits.
  for (let done = 0; done < ROUNDS; done += 4) {
    await Promise.all(Array.from({ length: Math.min(4, ROUNDS - done) }, killAtRandom));
  }
});

async function killAtRandom(): Promise<void> {
  const root = durables.root();
  const marks = new Mark();
  const host = await durables.host(root);
  const plans = Array.from({ length: 4 }, () => ({
    command: `setsid sleep ${marks.next()} & sleep ${marks.next()}`,
    workingDir: "/",
  }));
  const [startsBeforeKill, delayMs] = [randomInt(0, 5), randomInt(0, 80)];
  let started = 0;
  let killed: Promise<void> | undefined;
  const killSoon = () => {
    killed = new Promise((resolve) => setTimeout(resolve, delayMs)).then(async () => {
      // The first keeper may not exist yet.
      const keepers = processesWith(`${root}/keepers/${host.pid}-`).filter(
        ({ pid }) => parentOf(pid) === host.pid,
      );
      for (const { pid } of keepers) killQuietly(pid);
      await host.kill();
    });
  };
  if (startsBeforeKill === 0) killSoon();
  await host.startMany(plans, () => {
    if (++started === startsBeforeKill) killSoon();
  });
  await killed;
  await eventually(() => expect(marks.processes()).toEqual([]));
  await eventually(() => expect(processesWith(`${root}/`)).toEqual([]));
}
