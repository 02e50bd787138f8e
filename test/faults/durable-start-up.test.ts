// A host starts among many shells of other hosts. It finds all of them, and its sweep removes no running shell.
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { presenceOf } from "../../src/engine/attach.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { sweep } from "../../src/engine/sweep.ts";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import { useDurables } from "../fixtures/durable.ts";
import { Mark } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();
const durables = useDurables(shells);

test("many live and finished shells of a dead host are adopted at once, each with its own status", async ({
  annotate,
}) => {
  const root = durables.root();
  const marks = new Mark();
  const mark = marks.next();
  const host = await durables.host(root);
  const ids: string[] = [];
  const plan = (command: string) => ({ command, workingDir: "/", durable: true });
  const finished = Array.from({ length: 30 }, (_, index) => plan(`echo ${index}; exit ${index}`));
  const live = Array.from({ length: 30 }, () => plan(`exec sleep ${mark}`));
  await host.startMany([...finished, ...live], (id) => ids.push(id));
  await eventually(() => expect(marks.processes()).toHaveLength(30));
  for (const id of ids) {
    if ((await host.ask<string>("read", { path: join(root, "shells", id, "cmd") })).startsWith("echo"))
      await host.wait(id);
  }
  await host.kill();
  const manager = durables.manager(root);
  const began = performance.now();
  const adopted: ShellProcess[] = [];
  // Retry: on a busy machine, one adoption may run out of time before it has adopted all shells.
  await eventually(async () => {
    adopted.push(...(await manager.adopt()));
    expect(adopted).toHaveLength(ids.length);
  });
  await annotate(`${adopted.length} adopted in ${Math.round(performance.now() - began)} ms`);
  expect(adopted.map(({ id }) => id).sort()).toEqual(ids.sort());
  for (const shell of adopted) {
    const [, number] = /^echo (\d+)/.exec(shell.command) ?? [];
    if (number === undefined) {
      expect(shell.status).toBe("running");
      continue;
    }
    expect(shell.exitCode).toBe(Number(number));
    expect(shell.getAllOutput()).toBe(`${number}\n`);
  }
  expect(manager.listShells()).toHaveLength(60);
  // No shell is left to adopt: ended shells need no owner, and the others belong to this host.
  expect(await durables.manager(root).adopt()).toEqual([]);
  expect(await manager.killAll()).toBe(30);
  expect(marks.processes()).toEqual([]);
});

test("a sweep by age and quota removes no running shell, whether its host lives or not", async () => {
  const root = durables.root();
  const spool = new StateRoot(root);
  const marks = new Mark();
  const [dying, living] = [await durables.host(root), await durables.host(root)];
  const run = async (host: typeof dying, durable: boolean) => {
    const { id } = await host.start({ command: `echo up; sleep ${marks.next()}`, durable });
    await host.ask("waitForLine", { id, line: "^up$" });
    return id;
  };
  const running = [await run(dying, true), await run(living, true), await run(living, false)];
  const ended = (await living.start({ command: "echo over" })).id;
  await living.wait(ended);
  await dying.kill();
  // Make the files look as if they had not been modified for a day.
  const longAgo = new Date(Date.now() - 86_400_000);
  for (const id of [...running, ended]) {
    const { dir } = spool.files(id);
    for (const name of readdirSync(dir)) utimesSync(join(dir, name), longAgo, longAgo);
  }
  const limits = { nowMs: Date.now(), maxAgeMs: 0, quotaBytes: 0 };
  await eventually(async () => {
    await sweep(spool, limits, presenceOf);
    expect(spool.list()).not.toContain(ended);
  });
  expect(spool.list()).toEqual(expect.arrayContaining(running));
  expect(marks.processes()).toHaveLength(3);
  const manager = durables.manager(root);
  for (const id of running) expect(manager.getShell(id)?.status).toBe("running");
});

test("unrelated files in the state root are left alone and cause no error", async () => {
  const root = durables.root();
  const host = await durables.host(root);
  const { id } = await host.start({ command: "exit 6", durable: true });
  await host.wait(id);
  const dir = join(root, "shells");
  writeFileSync(join(dir, "a file"), "not a shell");
  mkdirSync(join(dir, "shell_zzzzzzzz", "meta"), { recursive: true });
  mkdirSync(join(dir, "shell_00000001"));
  writeFileSync(join(root, "keepers", "a file"), "not a keeper");
  await host.kill();
  const manager = durables.manager(root);
  const adopted = await manager.adopt();
  expect(adopted.map((shell) => [shell.id, shell.exitCode])).toEqual([[id, 6]]);
  expect(manager.findAll().map((shell) => shell.id)).toEqual([id]);
  expect(readdirSync(dir)).toEqual(expect.arrayContaining(["a file", "shell_zzzzzzzz", "shell_00000001"]));
});
