import { expect, test } from "vitest";
import type { ProcessRef } from "../../src/engine/process-table.ts";
import { SharedScan } from "../../src/engine/shared-scan.ts";
import type { StartedShell } from "../../src/engine/started-shell.ts";

const shell = (id: string) => ({ id }) as StartedShell;
const named = (id: string): ProcessRef => ({ pid: 1, startTime: "1", group: 1, command: id });

/** A look that finds one process for every shell but those of `gone`, and ends when it is let go. */
function looking(gone: readonly StartedShell[] = []) {
  const looks: { readonly ids: readonly string[]; readonly end: () => void }[] = [];
  const look = new SharedScan(async (shells) => {
    await new Promise<void>((end) => looks.push({ ids: shells.map(({ id }) => id), end }));
    return new Map(shells.filter((one) => !gone.includes(one)).map((one) => [one, [named(one.id)]]));
  });
  const begun = async (count: number) => {
    while (looks.length < count) await new Promise((resolve) => setImmediate(resolve));
    return looks[count - 1];
  };
  return { look, looks, begun };
}

test("concurrent callers share a scan, and each gets its own result", async () => {
  const [a, b, c] = [shell("a"), shell("b"), shell("c")];
  const { look, looks, begun } = looking([c]);
  const both = Promise.all([look.processesOf([a]), look.processesOf([b, c]), look.processesOf([a])]);
  (await begun(1))?.end();
  expect(await both).toEqual([
    new Map([[a, [named("a")]]]),
    new Map([[b, [named("b")]]]),
    new Map([[a, [named("a")]]]),
  ]);
  expect(looks.map(({ ids }) => ids)).toEqual([["a", "b", "c"]]);
});

test("a call during a scan gets the next one: the first may have passed a new process", async () => {
  const [a, b] = [shell("a"), shell("b")];
  const { look, looks, begun } = looking();
  const first = look.processesOf([a]);
  const running = await begun(1);
  const later = Promise.all([look.processesOf([a]), look.processesOf([b])]);
  running?.end();
  await first;
  (await begun(2))?.end();
  expect(await later).toEqual([new Map([[a, [named("a")]]]), new Map([[b, [named("b")]]])]);
  expect(looks.map(({ ids }) => ids)).toEqual([["a"], ["a", "b"]]);
});

test("two views of one shell are not mixed up", async () => {
  const [one, other] = [shell("a"), shell("a")];
  const { look, begun } = looking();
  const both = Promise.all([look.processesOf([one]), look.processesOf([other])]);
  (await begun(1))?.end();
  (await begun(2))?.end();
  const [ofOne, ofOther] = await both;
  expect([...ofOne.keys()]).toEqual([one]);
  expect(ofOther.has(other)).toBe(true);
  expect(ofOther.has(one)).toBe(false);
});

test("a failing scan fails for its callers, and the next one runs", async () => {
  let looks = 0;
  const look = new SharedScan(async () => {
    looks++;
    if (looks === 1) throw new Error("no /proc");
    return new Map();
  });
  const failing = [look.processesOf([shell("a")]), look.processesOf([shell("b")])];
  for (const one of failing) await expect(one).rejects.toThrow("no /proc");
  expect(await look.processesOf([shell("a")])).toEqual(new Map());
});
