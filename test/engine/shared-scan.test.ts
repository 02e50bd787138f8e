import { expect, test } from "vitest";
import type { ProcessRef } from "../../src/engine/process-table.ts";
import { SharedScan } from "../../src/engine/shared-scan.ts";
import type { StartedShell } from "../../src/engine/started-shell.ts";

const shell = (id: string) => ({ id }) as StartedShell;
const named = (id: string): ProcessRef => ({ pid: 1, startTime: "1", group: 1, command: id });

/** A scan that finds one process for every shell except those in `gone`. It returns when the test calls its `end`. */
function controlledScan(gone: readonly StartedShell[] = []) {
  const scans: { readonly ids: readonly string[]; readonly end: () => void }[] = [];
  const shared = new SharedScan(async (shells) => {
    await new Promise<void>((end) => scans.push({ ids: shells.map(({ id }) => id), end }));
    return new Map(shells.filter((one) => !gone.includes(one)).map((one) => [one, [named(one.id)]]));
  });
  const begun = async (count: number) => {
    while (scans.length < count) await new Promise((resolve) => setImmediate(resolve));
    return scans[count - 1];
  };
  return { shared, scans, begun };
}

test("concurrent callers share a scan, and each gets its own result", async () => {
  const [a, b, c] = [shell("a"), shell("b"), shell("c")];
  const { shared, scans, begun } = controlledScan([c]);
  const both = Promise.all([shared.processesOf([a]), shared.processesOf([b, c]), shared.processesOf([a])]);
  (await begun(1))?.end();
  expect(await both).toEqual([
    new Map([[a, [named("a")]]]),
    new Map([[b, [named("b")]]]),
    new Map([[a, [named("a")]]]),
  ]);
  expect(scans.map(({ ids }) => ids)).toEqual([["a", "b", "c"]]);
});

test("a call during a scan gets the next scan, because the running scan may have missed a new process", async () => {
  const [a, b] = [shell("a"), shell("b")];
  const { shared, scans, begun } = controlledScan();
  const first = shared.processesOf([a]);
  const running = await begun(1);
  const later = Promise.all([shared.processesOf([a]), shared.processesOf([b])]);
  running?.end();
  await first;
  (await begun(2))?.end();
  expect(await later).toEqual([new Map([[a, [named("a")]]]), new Map([[b, [named("b")]]])]);
  expect(scans.map(({ ids }) => ids)).toEqual([["a"], ["a", "b"]]);
});

test("a scan does not mix up two views of one shell", async () => {
  const [one, other] = [shell("a"), shell("a")];
  const { shared, begun } = controlledScan();
  const both = Promise.all([shared.processesOf([one]), shared.processesOf([other])]);
  (await begun(1))?.end();
  (await begun(2))?.end();
  const [ofOne, ofOther] = await both;
  expect([...ofOne.keys()]).toEqual([one]);
  expect(ofOther.has(other)).toBe(true);
  expect(ofOther.has(one)).toBe(false);
});

test("a failing scan fails for its callers, and the next scan runs", async () => {
  let scans = 0;
  const shared = new SharedScan(async () => {
    scans++;
    if (scans === 1) throw new Error("no /proc");
    return new Map();
  });
  const failing = [shared.processesOf([shell("a")]), shared.processesOf([shell("b")])];
  for (const one of failing) await expect(one).rejects.toThrow("no /proc");
  expect(await shared.processesOf([shell("a")])).toEqual(new Map());
});
