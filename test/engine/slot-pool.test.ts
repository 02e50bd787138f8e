import { existsSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { readIdentity } from "../../src/engine/identity.ts";
import { tagLimits } from "../../src/engine/process-table.ts";
import { diskProblem, type Slot, type SlotKind, SlotPool } from "../../src/engine/slot-pool.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { useKeepers } from "../fixtures/keepers.ts";
import { loggerPids } from "../fixtures/marked.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();
const keeperFor = useKeepers(shells);
const usualKind: SlotKind = { capBytes: 1024 ** 2, streams: "split", environment: undefined };
let pools: SlotPool[] = [];
afterEach(() => {
  for (const pool of pools) pool.close();
  pools = [];
});

function poolOf(size: number) {
  // Like the host, report every exit to the pool.
  const ended: string[] = [];
  const { keeper, dir, end } = keeperFor({
    ownLimits: tagLimits("self"),
    onExit: (generation) => {
      ended.push(generation);
      pool.forgetIdle(generation);
    },
  });
  const root = new StateRoot(join(dir, "state"));
  root.ensure();
  const pool = new SlotPool({ keeper, root, size, usualKind });
  pools.push(pool);
  return { keeper, root, pool, ended, end };
}

async function filled(pool: SlotPool, size: number): Promise<void> {
  pool.refillIn(0);
  await eventually(() => expect(pool.idleDirs()).toHaveLength(size));
}

describe("a pool", () => {
  test("keeps the configured number of slots ready, and hands out the oldest slot", async () => {
    const { pool, root } = poolOf(2);
    await filled(pool, 2);
    const [oldest] = pool.idleDirs();
    const slot = await pool.take(usualKind);
    expect(slot.files.dir).toBe(oldest);
    expect(slot.id).toMatch(/^shell_[0-9a-f]{8}$/);
    expect(root.list()).toContain(slot.id);
    await filled(pool, 2);
    expect(pool.idleDirs()).not.toContain(oldest);
  });

  test("opens a slot of another kind on request", async () => {
    const { pool } = poolOf(1);
    await filled(pool, 1);
    const merged = await pool.take({ ...usualKind, streams: "merged" });
    const capped = await pool.take({ ...usualKind, capBytes: 4096 });
    const own = await pool.take({ ...usualKind, environment: ["PATH=/bin"] });
    expect(pool.idleDirs()).toHaveLength(1);
    await loggerPids(merged.shimPid, 1);
    for (const { shimPid } of [capped, own]) await loggerPids(shimPid, 2);
  });

  test("does not keep a slot that died before the pool knew about it", async () => {
    const { pool, keeper, ended } = poolOf(1);
    const openSlot = keeper.openSlot.bind(keeper);
    keeper.openSlot = async (request) => {
      keeper.openSlot = openSlot;
      const ready = await openSlot(request);
      process.kill(ready.commandPid, "SIGKILL");
      await eventually(() => expect(ended).toEqual([ready.generation]));
      return ready;
    };
    pool.refillIn(0);
    await eventually(() => {
      const waiting = pool.idleDirs().map((dir) => readIdentity(join(dir, "identity"))?.commandPid ?? -1);
      expect(waiting.map(isAlive)).toEqual([true]);
    });
  });

  test("forgets a slot that died while it waited, removes its directory and fills up again", async () => {
    const { pool } = poolOf(1);
    const doomed = await pool.take(usualKind);
    await filled(pool, 1);
    const [dir = ""] = pool.idleDirs();
    pool.forgetIdle(doomed.generation);
    expect(pool.idleDirs()).toEqual([dir]);
    process.kill(readIdentity(join(dir, "identity"))?.commandPid ?? Number.NaN, "SIGKILL");
    await eventually(() => expect(existsSync(dir)).toBe(false));
    await filled(pool, 1);
    expect(pool.idleDirs()).not.toContain(dir);
  });

  test("gives every slot its own number, job pipe and directory", async () => {
    const { pool } = poolOf(0);
    const slots = await Promise.all(Array.from({ length: 40 }, () => pool.take(usualKind)));
    const distinct = (of: (slot: Slot) => unknown) => new Set(slots.map(of)).size;
    const pipeOf = ({ commandPid }: Slot) => readlinkSync(`/proc/${commandPid}/fd/6`);
    expect([distinct((s) => s.id), distinct(pipeOf), distinct((s) => s.tagNumber)]).toEqual([40, 40, 40]);
    expect(slots.map(pipeOf).every((link) => link.startsWith("pipe:"))).toBe(true);
    expect(slots.every(({ commandPid }) => isAlive(commandPid))).toBe(true);
  });

  test("repeats a request that was lost with its keeper", async () => {
    const { pool, keeper } = poolOf(0);
    const { pid } = await keeper.start();
    process.kill(pid, "SIGSTOP");
    const requests = [pool.take(usualKind), pool.take(usualKind)];
    process.kill(pid, "SIGKILL");
    for (const slot of await Promise.all(requests)) expect(isAlive(slot.commandPid)).toBe(true);
  });

  test("opens no more slots after it was closed", async () => {
    const { pool, root } = poolOf(2);
    pool.close();
    pool.refillIn(0);
    await pool.take(usualKind);
    // If the pool were open, its timer would open slots before this take returns.
    await pool.take(usualKind);
    expect(pool.idleDirs()).toEqual([]);
    expect(root.list()).toHaveLength(2);
  });

  test("creates a removed state directory again", async () => {
    const { pool, root } = poolOf(0);
    rmSync(root.path, { recursive: true });
    expect(isAlive((await pool.take(usualKind)).commandPid)).toBe(true);
    expect(readdirSync(root.shellsDir)).toHaveLength(1);
  });
});

test("a full disk is distinguished from other errors", () => {
  const failure = (code: string) => Object.assign(new Error(`${code}: x`), { code });
  for (const code of ["ENOSPC", "EDQUOT"]) {
    expect(diskProblem("/s", failure(code))).toContain("no space is left for the state directory /s");
  }
  expect(diskProblem("/s", failure("EACCES"))).toBe("No shell can be started: EACCES: x");
});
