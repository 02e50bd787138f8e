// Several hosts use one state root. All see the same shells, exactly one adopts each shell, and none affects
// the shells of another live host.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { killWithKeeper, useDurables } from "../fixtures/durable.ts";
import { isLong } from "../fixtures/long.ts";
import { Mark } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";
import type { Described, SpecialHost } from "../fixtures/special-host.ts";

const shells = useShells();
const durables = useDurables(shells);
const SHELLS = isLong ? 50 : 12;

type Listed = Described & { readonly id: string };

async function startSleepers(
  host: SpecialHost,
  marks: Mark,
  count: number,
  durable: boolean,
): Promise<string[]> {
  const ids: string[] = [];
  const mark = marks.next();
  const plans = Array.from({ length: count }, () => ({
    command: `exec sleep ${mark}`,
    workingDir: "/",
    durable,
  }));
  await host.startMany(plans, (id) => ids.push(id));
  await eventually(() => expect(marks.processes(mark)).toHaveLength(count));
  return ids;
}

test("two hosts see each other's shells, and both see a kill by either host", async () => {
  const root = durables.root();
  const [one, two] = [await durables.host(root), await durables.host(root)];
  const marks = new Mark();
  const [first = ""] = await startSleepers(one, marks, 1, true);
  const [second = ""] = await startSleepers(two, marks, 1, false);
  for (const host of [one, two]) {
    const listed = await host.ask<Listed[]>("findAll");
    expect(listed.map(({ id }) => id)).toEqual([first, second]);
    expect(listed.map(({ status }) => status)).toEqual(["running", "running"]);
    // While its host lives, no other host may take over or end a shell.
    expect(await host.ask("adopt")).toEqual([]);
  }
  expect(marks.processes()).toHaveLength(2);
  for (const [id, killer, owner] of [
    [first, two, one],
    [second, one, two],
  ] as const) {
    const report = await killer.ask<{ signalled: unknown[]; survivors: unknown[] }>("kill", { id });
    expect(report.signalled).toHaveLength(1);
    expect(report.survivors).toEqual([]);
    for (const host of [killer, owner]) {
      expect(await host.wait(id)).toMatchObject({
        status: "killed",
        outcome: { kind: "killed", by: "kill()" },
      });
    }
  }
  expect(marks.processes()).toEqual([]);
});

test("if several hosts adopt at once, exactly one of them gets each shell", async () => {
  const root = durables.root();
  const marks = new Mark();
  const dying = await durables.host(root);
  const ids = await startSleepers(dying, marks, 10, true);
  const adopters = await Promise.all(Array.from({ length: 4 }, () => durables.host(root)));
  await dying.kill();
  const adopted = await Promise.all(adopters.map((host) => host.ask<Listed[]>("adopt")));
  expect(
    adopted
      .flat()
      .map(({ id }) => id)
      .sort(),
  ).toEqual(ids.sort());
  expect(adopted.flat().map(({ status }) => status)).toEqual(ids.map(() => "running"));
  expect(marks.processes()).toHaveLength(10);
  expect(await Promise.all(adopters.map((host) => host.ask("adopt")))).toEqual(adopters.map(() => []));
});

test("a shell is adopted again after its adopter is killed, and again after its adopter is disposed of", async () => {
  const root = durables.root();
  const marks = new Mark();
  const first = await durables.host(root);
  const [id] = await startSleepers(first, marks, 1, true);
  await killWithKeeper(first, root);
  for (let deaths = 0; deaths < 2; deaths++) {
    const host = await durables.host(root);
    expect(await host.ask<Listed[]>("adopt")).toMatchObject([{ id, status: "running" }]);
    await host.kill();
  }
  const giving = durables.manager(root);
  expect((await giving.adopt()).map((shell) => shell.id)).toEqual([id]);
  await giving.dispose();
  const [shell] = await durables.manager(root).adopt();
  expect(shell?.id).toBe(id);
  expect(shell?.status).toBe("running");
  expect((await shell?.kill({ graceMs: 0 }))?.survivors).toEqual([]);
});

test(`the death of a host with ${SHELLS} shells does not affect the ${SHELLS} shells of another host`, async () => {
  const root = durables.root();
  const marks = new Mark();
  const [dying, living] = [await durables.host(root), await durables.host(root)];
  const doomed = await startSleepers(dying, marks, SHELLS / 2, false);
  const durable = await startSleepers(dying, marks, SHELLS / 2, true);
  const others = [
    ...(await startSleepers(living, marks, SHELLS / 2, false)),
    ...(await startSleepers(living, marks, SHELLS / 2, true)),
  ];
  await dying.kill();
  const adopted = await living.ask<Listed[]>("adopt");
  expect(adopted.map(({ id }) => id).sort()).toEqual(durable.sort());
  await eventually(() => expect(marks.processes()).toHaveLength(SHELLS + SHELLS / 2));
  const listed = await living.ask<Listed[]>("findAll");
  const statusOf = (id: string) => listed.find((shell) => shell.id === id)?.status;
  for (const id of [...others, ...durable]) expect(statusOf(id)).toBe("running");
  for (const id of doomed) expect(await living.wait(id)).toMatchObject({ status: "killed" });
});

test("waits and live reads of an adopted shell work as for a shell that the host started", async () => {
  const root = durables.root();
  const go = join(shells.directory(), "go");
  const host = await durables.host(root);
  const { id } = await host.start({
    command: `echo one; echo err >&2; until [[ -e ${go} ]]; do sleep 0.02; done; echo two; printf three; exit 3`,
    durable: true,
  });
  await host.ask("waitForLine", { id, line: "^one$" });
  await host.kill();
  const [shell] = await durables.manager(root).adopt();
  if (!shell) throw new Error("nothing was adopted");
  expect(await shell.waitFor({ pattern: /^err$/ }, 20_000)).toMatchObject({ stream: "stderr", line: "err" });
  expect(shell.getNewOutput()).toBe("one\n[stderr]\nerr\n");
  const waiting = shell.waitFor({ pattern: /^two$/ }, 20_000);
  let text = "";
  const reading = (async () => {
    for await (const piece of shell.output()) if (piece.stream === "stdout") text += piece.text;
  })();
  writeFileSync(go, "");
  expect(await waiting).toMatchObject({ kind: "matched", stream: "stdout" });
  await reading;
  expect(text).toBe("one\ntwo\nthree");
  expect(await shell.wait(20_000)).toBe(3);
  expect(shell.getNewOutput()).toBe("two\nthree");
  expect(shell.startedAt).toBe(shell.createdAt);
});
