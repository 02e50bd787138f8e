// After the death of its host, a durable shell still has its deadline and disk cap, and keeps its exit code on a full
// disk.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readMeta } from "../../src/engine/meta.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { killWithKeeper, useDurables } from "../fixtures/durable.ts";
import { Mark } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";
import { CANNOT_MOUNT, canMount, isRoot, onSmallDisk } from "../fixtures/special-host.ts";

const shells = useShells();
const durables = useDurables(shells);
const CAP_BYTES = 256 * 1024;

const waitFor = (path: string) => `until [[ -e ${path} ]]; do sleep 0.02; done`;

test("the default deadline of a durable shell is 24 hours", async () => {
  const root = durables.root();
  const manager = durables.manager(root);
  const shell = await manager.createShell({ command: "sleep 300", workingDir: "/", durable: true });
  const plain = await manager.createShell({ command: "sleep 300", workingDir: "/" });
  const files = new StateRoot(root);
  expect(readMeta(files.files(shell.id).meta)?.deadlineMs).toBe(24 * 3_600_000);
  expect(readMeta(files.files(plain.id).meta)?.deadlineMs).toBeNull();
});

test("after its host's death, a durable shell ends at its deadline, and another shell keeps running", async () => {
  await Promise.all(
    (["auto", "best-effort"] as const).map(async (containment) => {
      const root = durables.root();
      const marks = new Mark();
      const [short, long] = [marks.next(), marks.next()];
      const host = await durables.host(root, { manager: { containment } });
      const start = (mark: string, timeoutMs: number) =>
        host.start({ command: `setsid sleep ${mark} & echo up; sleep ${mark}`, durable: true, timeoutMs });
      const dying = await start(short, 1_200);
      const living = await start(long, 600_000);
      await host.kill();
      await eventually(() => expect(marks.processes(short), containment).toEqual([]));
      const manager = durables.manager(root, { containment });
      await manager.getShell(dying.id)?.wait(20_000);
      const ended = manager.getShell(dying.id);
      expect(ended?.outcome, containment).toMatchObject({ kind: "timedOut", afterMs: 1_200 });
      expect(ended?.durationMs, containment).toBeGreaterThanOrEqual(1_200);
      expect(manager.getShell(living.id)?.status, containment).toBe("running");
      expect(marks.processes(long), containment).toHaveLength(2);
    }),
  );
});

test("a host that adopts a shell enforces its deadline, even if the keeper is dead", async () => {
  // One deadline passes after the adoption, and one before it.
  await Promise.all(
    [1_500, 300].map(async (timeoutMs) => {
      const root = durables.root();
      const marks = new Mark();
      const host = await durables.host(root);
      const command = `trap '' TERM; sleep ${marks.next()}`;
      const { id } = await host.start({ command, durable: true, timeoutMs });
      await killWithKeeper(host, root);
      const deadlineUptimeMs =
        (readMeta(new StateRoot(root).files(id).meta)?.startedUptimeMs ?? 0) + timeoutMs;
      if (timeoutMs < 1_000)
        await eventually(() => expect(uptime() * 1000).toBeGreaterThan(deadlineUptimeMs));
      const [shell] = await durables.manager(root, { killGraceMs: 50 }).adopt();
      expect(shell?.id).toBe(id);
      await shell?.wait(20_000);
      expect(shell?.outcome).toMatchObject({ kind: "timedOut", afterMs: timeoutMs });
      expect(marks.processes()).toEqual([]);
    }),
  );
});

test("a runaway command whose host is dead stops exactly at its disk cap", async () => {
  const root = durables.root();
  const go = join(shells.directory(), "go");
  const host = await durables.host(root);
  const { id, files } = await host.start({
    command: `${waitFor(go)}; yes`,
    durable: true,
    capBytes: CAP_BYTES,
  });
  await host.kill();
  writeFileSync(go, "");
  const shell = durables.manager(root).getShell(id);
  expect(await shell?.wait(20_000)).toBe(141);
  expect(statSync(files.stdout).size).toBe(CAP_BYTES);
  expect(shell?.remarks).toEqual([expect.stringMatching(/^output cap reached/)]);
});

test("a runaway command that continues at its cap ends at its deadline, with the cap's size on disk", async () => {
  const root = durables.root();
  const host = await durables.host(root);
  const { id, files } = await host.start({
    command: "trap '' PIPE; while :; do yes 2>/dev/null; done",
    durable: true,
    capBytes: CAP_BYTES,
    timeoutMs: 1_200,
  });
  await host.kill();
  const shell = durables.manager(root).getShell(id);
  await shell?.wait(20_000);
  expect(shell?.outcome).toMatchObject({ kind: "timedOut", afterMs: 1_200 });
  expect(statSync(files.stdout).size).toBe(CAP_BYTES);
});

test("a durable shell whose working directory is removed keeps its output and its exit code", async () => {
  const root = durables.root();
  const [workingDir, go] = [join(shells.directory(), "cwd"), join(shells.directory(), "go")];
  const host = await durables.host(root);
  mkdirSync(workingDir);
  const { id } = await host.start({
    command: `echo up; ${waitFor(go)}; echo on; exit 8`,
    durable: true,
    workingDir,
  });
  await host.ask("waitForLine", { id, line: "^up$" });
  rmdirSync(workingDir);
  await host.kill();
  const [shell] = await durables.manager(root).adopt();
  writeFileSync(go, "");
  expect(await shell?.wait(20_000)).toBe(8);
  expect(shell?.getAllOutput()).toBe("up\non\n");
});

/** Returns a command prefix. Programs run with it share a small disk at `dir` until the test ends. */
async function sharedDisk(dir: string): Promise<readonly string[]> {
  const [file = "", ...args] = [...onSmallDisk(dir), "bash", "-c", "echo mounted; exec sleep 300"];
  const holder = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void holder.kill("SIGKILL"));
  await once(holder.stdout, "data");
  const user = isRoot ? [] : ["-U", "--preserve-credentials"];
  return ["nsenter", "-t", String(holder.pid), ...user, "-m", "--"];
}

test("durable shells keep their exit codes if the disk fills up after the host's death, and report a full spool", async ({
  skip,
}) => {
  skip(!canMount(), CANNOT_MOUNT);
  const [disk, go] = [shells.directory(), shells.directory()];
  const prefix = await sharedDisk(disk);
  const stateRoot = join(disk, "state");
  const host = await durables.host(stateRoot, { prefix });
  const start = async (name: string, rest: string) => {
    const command = `echo up; ${waitFor(join(go, name))}; ${rest}`;
    const { id } = await host.start({ command, durable: true });
    await host.ask("waitForLine", { id, line: "^up$" });
    return id;
  };
  const quiet = await start("quiet", "exit 5");
  const loud = await start("loud", "trap '' PIPE; head -c 4M /dev/zero 2>/dev/null; exit 7");
  const endless = await start("never", "");
  await host.kill();
  writeFileSync(join(go, "loud"), "");

  const next = await durables.host(stateRoot, { prefix });
  const full = await next.wait(loud);
  expect(full).toMatchObject({ status: "failed", exitCode: 7 });
  expect(full.remarks).toEqual([expect.stringMatching(/^spool full: .* the exit code is right/)]);
  // Even on the full disk the shells can be adopted, can exit and can be killed.
  expect(await next.ask<{ id: string }[]>("adopt")).toHaveLength(3);
  writeFileSync(join(go, "quiet"), "");
  expect(await next.wait(quiet)).toMatchObject({ status: "failed", exitCode: 5, remarks: [] });
  expect(await next.ask("output", { id: quiet })).toBe("up\n");
  expect(await next.ask("kill", { id: endless })).toMatchObject({ survivors: [] });
  expect(await next.look(endless)).toMatchObject({ status: "killed" });
});
