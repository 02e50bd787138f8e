// On a full, read-only or unwritable disk, the file tools report a clear error and change nothing.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useFileTools } from "../fixtures/file-tools.ts";
import { useFilesHosts } from "../fixtures/files-host.ts";
import {
  CANNOT_MOUNT,
  canMount,
  giveAway,
  isRoot,
  onSmallDisk,
  unprivileged,
} from "../fixtures/special-host.ts";

const world = useFileTools();
const host = useFilesHosts();

describe("on a disk of 256 KiB", () => {
  const state = () => join(world.outside(), "state");

  test("a full disk changes nothing and leaves nothing behind", async ({ skip }) => {
    skip(!canMount(), CANNOT_MOUNT);
    const disk = world.path("disk");
    mkdirSync(disk);
    const other = await host(disk, state(), onSmallDisk(disk, "size=256k"));
    expect(await other.call("Write", { file_path: "a", content: "old" })).toMatchObject({ success: true });
    const large = "x".repeat(400_000);
    for (const file_path of ["a", "new", "dir/sub/new"]) {
      expect(await other.call("Write", { file_path, content: large })).toMatchObject({
        code: "limit_reached",
        error: expect.stringContaining("no space is left"),
      });
    }
    expect((await other.call("Read", { file_path: "a" })).output).toBe("1\told\n");
    expect((await other.call("Glob", { pattern: "**" })).output).toBe("a\n");
    expect((await other.call("Bash", { command: "ls -A" })).output).toBe("a\n");
    await other.call("Bash", { command: "ln a b" });
    await other.call("Read", { file_path: "b" });
    expect(await other.call("Write", { file_path: "b", content: large })).toMatchObject({
      code: "limit_reached",
    });
    expect((await other.call("Bash", { command: "cat a b" })).output).toBe("oldold");
    await other.end();
  });

  test("a read-only disk changes nothing", async ({ skip }) => {
    skip(!canMount(), CANNOT_MOUNT);
    const disk = world.path("disk");
    mkdirSync(disk);
    const other = await host(disk, state(), onSmallDisk(disk, "ro"));
    expect(await other.call("Write", { file_path: "a/b", content: "" })).toMatchObject({
      code: "invalid_input",
      error: expect.stringContaining("read-only"),
    });
    await other.end();
  });
});

test("files that this user may not read or write are refused", async ({ skip }) => {
  skip(isRoot && unprivileged.length === 0, "needs another user");
  const dir = giveAway(world.path());
  chmodSync(join(dir, ".."), 0o755);
  for (const [name, mode] of [
    ["closed", 0o000],
    ["fixed", 0o444],
  ] as const) {
    writeFileSync(join(dir, name), "text\n");
    giveAway(join(dir, name));
    chmodSync(join(dir, name), mode);
  }
  const state = join(world.outside(), "other");
  mkdirSync(state);
  giveAway(state);
  const other = await host(dir, state, unprivileged);
  expect(await other.call("Read", { file_path: "closed" })).toMatchObject({
    code: "invalid_input",
    error: expect.stringContaining("permission denied"),
  });
  await other.call("Read", { file_path: "fixed" });
  const edit = { file_path: "fixed", old_string: "text", new_string: "new" };
  expect(await other.call("Edit", edit)).toMatchObject({
    error: expect.stringContaining("permission denied"),
  });
  expect(readFileSync(join(dir, "fixed"), "utf8")).toBe("text\n");
  await other.end();
});

test("a file in a directory that is not writable is changed in place", async ({ skip }) => {
  skip(isRoot && unprivileged.length === 0, "needs another user");
  const dir = world.path("dir");
  mkdirSync(dir);
  writeFileSync(join(dir, "a"), "old\n");
  giveAway(join(dir, "a"));
  chmodSync(dir, 0o555);
  chmodSync(join(world.work(), ".."), 0o755);
  const state = join(world.outside(), "other");
  mkdirSync(state);
  giveAway(state);
  const other = await host(world.work(), state, unprivileged);
  await other.call("Read", { file_path: "dir/a" });
  const edit = { file_path: "dir/a", old_string: "old", new_string: "new" };
  expect(await other.call("Edit", edit)).toMatchObject({ success: true });
  expect(readFileSync(join(dir, "a"), "utf8")).toBe("new\n");
  expect(readdirSync(dir)).toEqual(["a"]);
  chmodSync(dir, 0o755);
  await other.end();
});

test("an edit does not wait for a fifo that has replaced the file", async () => {
  writeFileSync(world.path("a"), "a\n");
  await world.kit().call("Read", { file_path: "a" });
  execFileSync("rm", [world.path("a")]);
  execFileSync("mkfifo", [world.path("a")]);
  const edit = { file_path: "a", old_string: "a", new_string: "b" };
  expect(await world.kit().call("Edit", edit)).toMatchObject({ error: expect.stringContaining("fifo") });
});
