// Each disk is a tmpfs in the mount namespace of its host. No other process sees it, and it disappears with the host.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { FULL, SPOOL_FULL, useSmallDisks } from "../fixtures/small-disk.ts";
import { type Failure, onSmallDisk } from "../fixtures/special-host.ts";
import { program } from "../mcp/mcp-clients.ts";
import { bash, HELLO } from "../mcp/raw.ts";

const { directory, onDisk } = useSmallDisks();

test("a command that fills the disk keeps its exit code, and the result reports a full spool", async () => {
  const { host } = await onDisk();
  const { id } = await host.start({ command: "trap '' PIPE; head -c 4M /dev/zero 2>/dev/null; exit 7" });
  const ended = await host.wait(id);
  expect(ended).toMatchObject({ status: "failed", exitCode: 7, signal: null });
  expect(ended.remarks).toEqual([expect.stringMatching(SPOOL_FULL)]);
});

test("a command that cannot print to a full disk dies of SIGPIPE, and the result gives the reason", async () => {
  const { host } = await onDisk();
  const { id } = await host.start({ command: "yes" });
  const ended = await host.wait(id);
  expect(ended).toMatchObject({ status: "failed", exitCode: 141, signal: "SIGPIPE" });
  expect(ended.remarks).toEqual([expect.stringMatching(SPOOL_FULL)]);
});

test("a command keeps its exit code while another process fills the disk", async () => {
  const { host, disk } = await onDisk();
  const fifo = join(directory(), "go");
  execFileSync("mkfifo", [fifo]);
  const { id, files } = await host.start({ command: `echo before; read -r < ${fifo}; exit 5` });
  await host.ask("waitForLine", { id, line: "^before$" });
  await host.ask("fillDisk", { path: join(disk, "filler") });
  execFileSync("bash", ["--norc", "-c", `echo > ${fifo}`]);
  expect(await host.wait(id)).toMatchObject({ status: "failed", exitCode: 5, remarks: [] });
  expect(await host.ask("output", { id })).toBe("before\n");
  expect(await host.ask<string>("read", { path: files.record })).toMatch(/^X 5 - 7 0 /);
});

test("a kill on a full disk is recorded as a kill", async () => {
  const { host, disk } = await onDisk();
  const { id, files } = await host.start({ command: "echo up; sleep 300" });
  await host.ask("waitForLine", { id, line: "^up$" });
  await host.ask("fillDisk", { path: join(disk, "filler") });
  expect(await host.ask("kill", { id })).toMatchObject({ survivors: [] });
  expect(await host.look(id)).toMatchObject({ status: "killed", exitCode: 137 });
  expect(await host.ask<string>("read", { path: files.record })).toMatch(/^X 137 .*\nC killed kill\(\)/);
});

test("a start on a full disk fails with a clear error, and works again once space is free", async () => {
  const { host, disk } = await onDisk();
  const filler = join(disk, "filler");
  const { id } = await host.start({ command: "exit 1" });
  await host.wait(id);
  await host.ask("fillDisk", { path: filler });
  // Start more shells than there are waiting slots: these slots were created before the disk was full.
  for (let i = 0; i < 5; i++) {
    // Each refused start frees the space of its slot: fill the disk again.
    await host.ask("fillDisk", { path: `${filler}${i}` });
    const refused = await host.refusedStart({ command: "echo never" });
    expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
    expect(refused.message).toMatch(FULL);
  }
  for (const name of ["", 0, 1, 2, 3, 4]) await host.ask("removeFile", { path: `${filler}${name}` });
  const { id: again } = await host.start({ command: "exit 2" });
  expect(await host.wait(again)).toMatchObject({ exitCode: 2, remarks: [] });
});

test("a first start on a full disk fails with a clear error", async () => {
  const { host, disk } = await onDisk();
  const filler = join(disk, "filler");
  await host.ask("fillDisk", { path: filler });
  const refused = await host.refusedStart({ command: "true" });
  expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
  expect(refused.message).toMatch(/no space/i);
  await host.ask("removeFile", { path: filler });
  const { id } = await host.start({ command: "exit 4" });
  expect(await host.wait(id)).toMatchObject({ exitCode: 4 });
});

test("without free inodes every start fails with a clear error, and no start hangs", async () => {
  const { host } = await onDisk("size=1m,nr_inodes=20");
  const refusals: Failure[] = [];
  // Each shell that starts leaves files behind, so the inodes run out soon.
  for (let i = 0; i < 10; i++) {
    await host.refusedStart({ command: "true" }).then(
      (refused) => refusals.push(refused),
      () => {},
    );
  }
  expect(refusals.length).toBeGreaterThan(5);
  for (const refused of refusals) {
    expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
    expect(refused.message).toMatch(/space/);
  }
});

test("a host on a full disk exits by itself", async () => {
  const { host, disk } = await onDisk();
  await host.ask("fillDisk", { path: join(disk, "filler") });
  await host.refusedStart({ command: "true" });
  expect(await host.leave()).toBe(0);
});

/** Runs a bash script with NACRE_HOME on a small disk. $1 is a file on that disk: the script fills the disk with it. */
function onSmallDiskRun(script: string): { readonly stdout: string; readonly stderr: string } {
  const disk = directory();
  const [file = "", ...args] = [...onSmallDisk(disk), "bash", "-c", script, "bash", join(disk, "filler")];
  const env = { PATH: process.env["PATH"] ?? "", NACRE_HOME: join(disk, "state"), HOME: "/nonexistent" };
  const N = `${process.execPath} ${program}`;
  return spawnSync(file, args, { env: { ...env, N }, encoding: "utf8", timeout: 60_000 });
}

/** Prints more than fits on the disk, and then continues. */
const TOO_MUCH = "trap '' PIPE; head -c 4M /dev/zero | tr '\\0' x";
const FILL = 'cat /dev/zero >>"$1" 2>/dev/null';

describe("the program", () => {
  test("reports a full disk without a stack trace, and still lists shells", () => {
    const commandLines = [
      "run 'echo hi'",
      "run --json 'echo hi'",
      "run -b 'echo hi'",
      "run --session s 'echo hi'",
    ];
    // A failed start frees blocks again: fill the disk before each line.
    const script = commandLines.map((line) => `${FILL}\n$N ${line}; echo "code $?"`).join("\n");
    const { stdout, stderr } = onSmallDiskRun(`${script}\n$N ps; echo "ps $?"`);
    expect(stdout.match(/^code 1$/gm)).toHaveLength(4);
    expect(stdout).toMatch(/^ps 0$/m);
    expect(stderr).toMatch(/^There are no shells.$/m);
    expect(stderr.match(/^nacre: .*no space left.*\. Free some space, or set NACRE_HOME/gim)).toHaveLength(4);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test("keeps the exit code of a command that fills the disk, and reports the full disk", () => {
    const { stdout, stderr } = onSmallDiskRun(
      [
        `$N run "${TOO_MUCH}; exit 7" >/dev/null; echo "alone $?"; $N clean >/dev/null`,
        `$N run --session s "${TOO_MUCH}; (exit 8)" >/dev/null; echo "session $?"; $N clean >/dev/null`,
        `$N run --session s "echo complete"; $N run "echo complete"`,
      ].join("\n"),
    );
    expect(stdout).toBe("alone 7\nsession 8\ncomplete\ncomplete\n");
    expect(stderr.match(/^nacre: spool full: .*free space/gm)).toHaveLength(2);
  });

  test("serves MCP on a full disk: calls report it, and work once space is free", async () => {
    const disk = directory();
    const [file = "", ...args] = [...onSmallDisk(disk), process.execPath, program, "mcp", "--policy", "off"];
    const env = { PATH: process.env["PATH"] ?? "", NACRE_HOME: join(disk, "state"), HOME: "/nonexistent" };
    const server = spawn(file, args, { env, cwd: "/", stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
    const send = (message: unknown) => void server.stdin.write(`${JSON.stringify(message)}\n`);
    const answer = async (id: number) => {
      for (let line = await lines.next(); !line.done; line = await lines.next()) {
        const { id: answered, result } = JSON.parse(line.value);
        if (answered === id) return result.structuredContent ?? result;
      }
    };
    const call = async (id: number, command: string) => {
      send(bash(id, command));
      return await answer(id);
    };
    // Only the server's mount namespace contains the disk.
    const filler = () => `/proc/${server.pid}/root${disk}/filler`;
    try {
      send(HELLO[0]);
      await answer(0);
      send(HELLO[1]);
      expect(await call(1, "echo hi")).toMatchObject({ exit_code: 0, output: "hi\n" });
      // Create a file that can be freed: removing the output files frees no space, because the shim has the
      // first ones open.
      writeFileSync(`/proc/${server.pid}/root${disk}/spare`, Buffer.alloc(64 * 1024));
      execFileSync("bash", ["--norc", "-c", `! cat /dev/zero >${filler()} 2>/dev/null`]);
      expect(await call(20, "exit 6")).toMatchObject({ exit_code: 6 });
      const refused = await call(2, "echo never");
      expect(refused).toMatchObject({
        error_code: "spawn_failed",
        error: expect.stringMatching(/no space/i),
      });
      rmSync(filler());
      const full = await call(3, `${TOO_MUCH}; (exit 7)`);
      expect(full).toMatchObject({ exit_code: 7, notes: [expect.stringMatching(SPOOL_FULL)] });
      expect(await call(4, `rm -f ${disk}/spare ${disk}/state/shells/*/out*; (exit 8)`)).toMatchObject({
        exit_code: 8,
      });
      expect(await call(5, "echo complete")).toMatchObject({ exit_code: 0, output: "complete\n" });
    } finally {
      server.stdin.end();
      await once(server, "exit");
    }
  });
});
