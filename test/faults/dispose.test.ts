// A manager is disposed of, or its host is killed, while slots start. The host does not know these slots yet, so only
// the keeper can end them.
import { randomInt } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ShellManager } from "../../src/shell-manager.ts";
import { useDurables } from "../fixtures/durable.ts";
import { escapeCommand, escaped } from "../fixtures/escapes.ts";
import { processesTouching } from "../fixtures/leak-proof.ts";
import { Mark, processesWith } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();
const durables = useDurables(shells);

const ROUNDS = process.env["NACRE_LONG"] ? 400 : 12;

/** Expects no process, no directory of a keeper, and no directory of a slot without a job. */
async function expectNothingLeft(root: string, ids: readonly string[]): Promise<void> {
  await eventually(() => expect(processesTouching(root)).toEqual([]));
  await eventually(() => expect(namesIn(join(root, "keepers"))).toEqual([]));
  expect(namesIn(join(root, "shells")).sort()).toEqual([...ids].sort());
}

/** A manager that started no shell has created no directory. */
function namesIn(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir) : [];
}

/** Slot directories that a killed host created before it sent the request to its keeper. The next host removes them. */
function neverRequested(root: string): string[] {
  const ids = readdirSync(join(root, "shells"));
  return ids.filter((id) => readdirSync(join(root, "shells", id)).every((name) => name === "record"));
}

/** Resolves with the ids of the shells that started. The other starts were refused. */
async function startSome(manager: ShellManager, count: number): Promise<string[]> {
  const starts = Array.from({ length: count }, () =>
    manager.createShell({ command: "true", workingDir: "/", background: false }),
  );
  const settled = await Promise.allSettled(starts);
  return settled.flatMap((start) => (start.status === "fulfilled" ? [start.value.id] : []));
}

const moment = (maxMs: number) => new Promise((resolve) => setTimeout(resolve, randomInt(0, maxMs)));

test(`${ROUNDS} managers that are disposed of while slots start leave nothing behind`, {
  timeout: ROUNDS * 5_000,
}, async () => {
  for (let done = 0; done < ROUNDS; done += 4) {
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const manager = shells.manager({ poolSize: randomInt(0, 8) });
        if (randomInt(0, 3) > 0) await startSome(manager, 1);
        const began = startSome(manager, randomInt(0, 6));
        await moment(30);
        await manager.dispose();
        await began;
        const ids = manager.listShells().map(({ id }) => id);
        await expectNothingLeft(manager.root.path, ids);
      }),
    );
  }
});

test("a command whose manager is disposed of during its start is killed or never runs", async () => {
  const marks = new Mark();
  for (let round = 0; round < 6; round++) {
    const manager = shells.manager({ poolSize: round % 3 });
    const command = () => `setsid sleep ${marks.next()} & sleep ${marks.next()}`;
    const starts = Promise.allSettled(
      Array.from({ length: 4 }, () => manager.createShell({ command: command(), workingDir: "/" })),
    );
    await moment(40);
    await manager.dispose();
    await starts;
    await eventually(() => expect(marks.processes()).toEqual([]));
    await eventually(() => expect(processesTouching(manager.root.path)).toEqual([]));
  }
});

test("leftovers of a forgotten shell end with the manager", async () => {
  const marks = new Mark();
  const manager = shells.manager();
  const dir = shells.directory();
  const left = marks.next();
  const shell = await manager.createShell({
    command: escapeCommand("bare-daemon", left, dir),
    workingDir: "/",
  });
  await shell.wait(20_000);
  await escaped("bare-daemon", left, marks);
  manager.forget(shell);
  await manager.dispose();
  await eventually(() => expect(marks.processes()).toEqual([]));
});

test(`${ROUNDS} hosts that are killed while slots start leave nothing behind`, {
  timeout: ROUNDS * 5_000,
}, async () => {
  for (let done = 0; done < ROUNDS; done += 4) {
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const root = durables.root();
        const host = await durables.host(root, { manager: { poolSize: randomInt(1, 8) } });
        const { id } = await host.start({ command: "true" });
        await moment(30);
        await host.kill();
        await eventually(() => expect(processesWith(`${root}/`)).toEqual([]));
        await expectNothingLeft(root, [id, ...neverRequested(root)]);
      }),
    );
  }
});
