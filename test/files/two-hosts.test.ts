// Writers in two processes lose no update, and a host that is killed while it writes leaves no mixture.
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { thisProcess } from "../../src/engine/process-table.ts";
import { useFileTools } from "../fixtures/file-tools.ts";
import { useFilesHosts } from "../fixtures/files-host.ts";
import { isLong } from "../fixtures/long.ts";

const world = useFileTools();
const host = useFilesHosts();
const { kit, path } = world;
const KILLS = isLong ? 500 : 4;

test("8 writers in two processes lose no update, and each stale edit reports what changed", async () => {
  const other = await host(world.work(), join(world.work(), "../state"));
  writeFileSync(path("count"), "lines:\n");
  const rounds = 6;
  let stale = 0;
  const written: string[] = [];
  /** Adds a line per round. If another writer was faster, reads the file again and retries. */
  const writer = async (
    name: string,
    call: (
      tool: string,
      args: object,
    ) => Promise<{ success: boolean; code?: string | undefined; error?: string | undefined }>,
  ) => {
    for (let round = 0; round < rounds; round++) {
      for (;;) {
        await call("Read", { file_path: "count" });
        const line = `${name}.${round}\n`;
        const edit = { file_path: "count", old_string: "lines:\n", new_string: `lines:\n${line}` };
        const { success, code, error } = await call("Edit", edit);
        if (success) {
          written.push(line);
          break;
        }
        expect([code, error]).toEqual(["stale_file", expect.stringMatching(/What changed:\n[-+]/)]);
        stale++;
      }
    }
  };
  const own = [0, 1, 2, 3].map((i) =>
    writer(`own${i}`, async (tool, args) => await kit().call(tool as string, args, { agentId: `own${i}` })),
  );
  // The other host answers one call at a time, so its writers queue their calls.
  let last: Promise<unknown> = Promise.resolve();
  const others = [0, 1, 2, 3].map((i) =>
    writer(`other${i}`, (tool, args) => {
      const next = last.then(() => other.call(tool, args, { agentId: `other${i}` }));
      last = next;
      return next;
    }),
  );
  await Promise.all([...own, ...others]);
  await other.end();
  const lines = readFileSync(path("count"), "utf8").split("\n").slice(1, -1);
  expect(lines.length).toBe(8 * rounds);
  expect(lines.map((line) => `${line}\n`).sort()).toEqual([...written].sort());
  expect(stale).toBeGreaterThan(0);
  expect(readdirSync(world.work())).toEqual(["count"]);
}, 300_000);

test(`a host that is killed while it writes leaves the old or the new content (${KILLS} times)`, async () => {
  writeFileSync(path("file"), "a".repeat(1_000));
  const sizes = [1_000, 300_000, 70_000];
  for (let i = 0; i < KILLS; i++) {
    const writer = await host(world.work(), join(world.work(), "../state"));
    await writer.loop("file", sizes);
    // Kill the host after a number of changes on disk, not after a delay.
    for (let seen = 0, before = ""; seen < (i % 4) + 1; ) {
      const now = readFileSync(path("file"), "utf8").slice(0, 1);
      if (now !== before) seen++;
      before = now;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writer.kill();
    const content = readFileSync(path("file"), "utf8");
    expect(sizes).toContain(content.length);
    expect(content).toBe(content.charAt(0).repeat(content.length));
  }
  await world.open();
  expect(readdirSync(world.work())).toEqual(["file"]);
  expect(readdirSync(join(world.work(), "../state/files/unfinished"))).toEqual([]);
  await kit().call("Read", { file_path: "file" });
  expect(await kit().call("Write", { file_path: "file", content: "end" })).toMatchObject({ success: true });
}, 3_600_000);

test("the next start removes the temporary file of a dead host, and no other file", async () => {
  const other = await host(world.work(), join(world.work(), "../state"));
  await other.call("Write", { file_path: "a", content: "a" });
  await other.kill();
  const unfinished = join(world.work(), "../state/files/unfinished");
  const name = ".nacre-write-0123456789abcdef";
  for (const file of [name, ".nacre-write-0123456789abcde0", "kept"]) writeFileSync(path(file), "");
  symlinkSync(world.work(), path("link"));
  symlinkSync(path(name), join(unfinished, "999999999-1-0123456789abcdef"));
  symlinkSync(path("kept"), join(unfinished, "999999999-1-0123456789abcde1"));
  symlinkSync(path("link/.nacre-write-0123456789abcde0"), join(unfinished, "999999999-1-0123456789abcde0"));
  await world.open();
  expect(readdirSync(world.work()).sort()).toEqual([".nacre-write-0123456789abcde0", "a", "kept", "link"]);
  expect(readdirSync(unfinished)).toEqual([]);
});

test("the next start removes the locks of dead hosts, but not the locks of live hosts", async () => {
  const other = await host(world.work(), join(world.work(), "../state"));
  await other.call("Write", { file_path: "a", content: "a" });
  const locks = join(world.work(), "../state/files/locks");
  const { pid, startTime } = thisProcess();
  symlinkSync("999999999-1", join(locks, "a".repeat(64)));
  // Simulate a host that was killed while it removed the lock of another dead host.
  symlinkSync("999999999-1", join(locks, "b".repeat(64)));
  symlinkSync("999999998-1", join(locks, `${"b".repeat(64)}.stale`));
  symlinkSync(`${pid}-${startTime}`, join(locks, "c".repeat(64)));
  await other.kill();
  await world.open();
  expect(readdirSync(locks)).toEqual(["c".repeat(64)]);
});
