// The end of a manager or of its host while slots are being opened: the host does not know such a slot yet, so only the
// keeper can end it.
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

/** No process, and no directory of a keeper or of a slot without a job. */
async function expectNothingLeft(root: string, ids: readonly string[]): Promise<void> {
  await eventually(() => expect(processesTouching(root)).toEqual([]));
  await eventually(() => expect(namesIn(join(root, "keepers"))).toEqual([]));
  expect(namesIn(join(root, "shells")).sort()).toEqual([...ids].sort());
}

/** A manager without a start has made no directory. */
function namesIn(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir) : [];
}

/** Directories that a killed host made for slots and had not asked its keeper for. The next host removes them. */
function neverRequested(root: string): string[] {
  const ids = readdirSync(join(root, "shells"));
  return ids.filter((id) => readdirSync(join(root, "shells", id)).every((name) => name === "record"));
}

/** Resolves with the ids of the shells that began; the others were refused. */
async function startSome(manager: ShellManager, count: number): Promise<string[]> {
  const starts = Array.from({ length: count }, () =>
    manager.createShell({ command: "true", workingDir: "/", background: false }),
  );
  const settled = await Promise.allSettled(starts);
  return settled.flatMap((start) => (start.status === "fulfilled" ? [start.value.id] : []));
}

const moment = (maxMs: number) => new Promise((resolve) => setTimeout(resolve, randomInt(0, maxMs)));

test(`of ${ROUNDS} managers disposed of while slots are opened nothing is left`, {
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

test("a command that is being started when its manager is disposed of has ended, or never runs", async () => {
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

test("what ended and forgotten shells left running ends with the manager", async () => {
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

test(`of ${ROUNDS} hosts killed while slots are opened nothing is left`, {
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
