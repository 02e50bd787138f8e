// A command can send SIGSTOP to nacre's own processes, which run as the same user: `kill -STOP $PPID` stops its shim.
import { ChildProcess, spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readStat } from "../../src/engine/process-table.ts";
import { killWithKeeper, useDurables } from "../fixtures/durable.ts";
import { withHeldShim } from "../fixtures/held-shells.ts";
import { useHosts } from "../fixtures/host-program.ts";
import { deputyOf, keeperPid, killQuietly, processesWith } from "../fixtures/marked.ts";
import { isAlive, stateOf } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";
import { program } from "../mcp/mcp-clients.ts";

const shells = useShells();
const { manager, directory, run } = shells;
const durables = useDurables(shells);
const startHost = useHosts();

/** Long enough for a busy machine, but shorter than the wait that stopped processes caused in an earlier version. */
const QUICK_MS = 8_000;

const STOPPED = "kill -STOP $PPID; echo up; sleep 300";

describe("a stopped shim", () => {
  test("does not prevent a kill from ending its shell", async () => {
    const shell = await manager().createShell({ command: STOPPED, workingDir: "/" });
    await shell.waitFor({ pattern: /up/ }, 10_000);
    // Wait: the kernel stops the shim only when the shim runs next.
    await eventually(() => expect(stateOf(shell.started.shimPid)).toBe("T"));
    const report = await shell.kill({ graceMs: 200 });
    expect(report.survivors).toEqual([]);
    expect(shell.status).toBe("killed");
    await eventually(() => expect(isAlive(shell.started.shimPid)).toBe(false));
  });

  test("records the end of a command that exits by itself", async () => {
    const shell = await run(manager(), "kill -STOP $PPID; echo done; exit 4");
    expect(shell.outcome).toEqual({ kind: "exited", code: 4 });
    expect(shell.getAllOutput()).toBe("done\n");
  });

  test("that cannot be continued is named in the report, and its shell does not count as killed", async () => {
    const shell = await manager().createShell({ command: STOPPED, workingDir: "/" });
    await shell.waitFor({ pattern: /up/ }, 10_000);
    const held = await withHeldShim(shell);
    const report = await held.kill({ graceMs: 0 });
    expect(held.status).toBe("running");
    const reason = expect.stringContaining("is stopped");
    expect(report.survivors).toEqual([{ pid: held.started.shimPid, command: "nacre-shim", reason }]);
  });

  test("does not delay the disposal of its manager", async () => {
    const shells = manager();
    const shell = await shells.createShell({ command: STOPPED, workingDir: "/" });
    await shell.waitFor({ pattern: /up/ }, 10_000);
    const before = performance.now();
    await shells.dispose();
    expect(performance.now() - before).toBeLessThan(QUICK_MS);
    expect(shell.status).toBe("killed");
    await eventually(() => expect(isAlive(shell.started.shimPid)).toBe(false));
  });

  test("ends with its host", async () => {
    const dir = directory();
    const stateRoot = join(dir, "state");
    const commands = ["kill -STOP $PPID; echo ready; sleep 300"];
    const host = await startHost({ options: { stateRoot }, commands }, dir);
    host.child.kill("SIGKILL");
    await host.exited;
    await eventually(() => expect(processesWith(`${stateRoot}/keepers`)).toEqual([]));
  });

  test("of a durable shell records its end after the death of its host", async () => {
    const root = durables.root();
    const host = await durables.host(root);
    const { id, shimPid } = await host.start({
      command: "kill -STOP $PPID; sleep 1; exit 6",
      durable: true,
    });
    await eventually(() => expect(stateOf(shimPid)).toBe("T"));
    await host.kill();
    await eventually(() => expect(isAlive(shimPid)).toBe(false));
    const next = manager({ stateRoot: root });
    await next.adopt();
    expect(next.getShell(id)?.outcome).toEqual({ kind: "exited", code: 6 });
  });
});

describe("a stopped keeper", () => {
  test("ends with its host, and so does everything it has started", async () => {
    const dir = directory();
    const stateRoot = join(dir, "state");
    const host = await startHost({ options: { stateRoot }, commands: ["echo ready; sleep 300"] }, dir);
    process.kill(keeperPid(stateRoot, host.child.pid), "SIGSTOP");
    host.child.kill("SIGKILL");
    await host.exited;
    await eventually(() => expect(processesWith(`${stateRoot}/`)).toEqual([]), 20_000);
  });

  test("is continued, and the next command runs", async () => {
    const shells = manager({ poolSize: 0 });
    await run(shells, "true");
    const keeper = keeperPid(shells.root.path);
    process.kill(keeper, "SIGSTOP");
    await eventually(() => expect(stateOf(keeper)).toBe("T"));
    expect((await run(shells, "echo fine")).getAllOutput()).toBe("fine\n");
    expect(keeperPid(shells.root.path)).toBe(keeper);
  });

  test("that cannot be continued is named as the reason why a start fails", async () => {
    const shells = manager({ poolSize: 0 });
    await run(shells, "true");
    const keeper = keeperPid(shells.root.path);
    process.kill(keeper, "SIGSTOP");
    const { kill } = ChildProcess.prototype;
    try {
      // Simulate a debugger: the signal is reported as sent, but the keeper stays stopped.
      ChildProcess.prototype.kill = function (signal) {
        return this.pid === keeper && signal === "SIGCONT" ? true : kill.call(this, signal);
      };
      await expect(run(shells, "echo fine")).rejects.toThrow(`The keeper (pid ${keeper}), which starts all`);
    } finally {
      ChildProcess.prototype.kill = kill;
    }
    expect((await run(shells, "echo fine")).getAllOutput()).toBe("fine\n");
  });

  test("and a stopped deputy end when their manager is disposed of, without delay", async () => {
    const shells = manager();
    await run(shells, "true");
    const keeper = keeperPid(shells.root.path);
    const deputy = await deputyOf(keeper);
    for (const pid of [keeper, deputy]) process.kill(pid, "SIGSTOP");
    const before = performance.now();
    await shells.dispose();
    expect(performance.now() - before).toBeLessThan(QUICK_MS);
    await eventually(() => expect([isAlive(keeper), isAlive(deputy)]).toEqual([false, false]));
  });
});

describe("a slot whose keeper, deputy and host are all killed at once", () => {
  /** Creates such slots. Returns their state root, and a function that lists the slots that are alive. */
  async function orphans(count: number, shims: "alive" | "killed, too") {
    const root = durables.root();
    const host = await durables.host(root, { manager: { poolSize: count } });
    const { id } = await host.start({ command: "true" });
    await host.wait(id);
    const isSlot = ({ command }: { command: string }) => command.includes("/cmd");
    const slots = await eventually(() => {
      const found = processesWith(`${root}/`).filter(isSlot);
      expect(found).toHaveLength(count);
      return found;
    });
    const shimPids = slots.map(({ pid }) => readStat(pid)?.parent);
    const isSpared = (one: { pid: number; command: string }) =>
      isSlot(one) || (shims === "alive" && shimPids.includes(one.pid));
    const others = processesWith(`${root}/`).filter((one) => !isSpared(one));
    await killWithKeeper(host, root);
    for (const { pid } of others) killQuietly(pid);
    const left = () => slots.filter(({ pid }) => isAlive(pid));
    if (shims === "alive") expect(left()).toHaveLength(count);
    return { root, left };
  }

  test("ends with the next host", async () => {
    const { root, left } = await orphans(3, "alive");
    await manager({ stateRoot: root }).adopt();
    await eventually(() => expect(left()).toEqual([]));
  });

  test("ends with nacre clean", async () => {
    const { root, left } = await orphans(2, "alive");
    const env = { PATH: process.env["PATH"], HOME: directory(), NACRE_HOME: root };
    const cleaned = spawnSync(process.execPath, [program, "clean"], { env, encoding: "utf8" });
    expect(cleaned).toMatchObject({ status: 0, stderr: "" });
    await eventually(() => expect(left()).toEqual([]), 2_000);
  });

  test("ends by itself if its shim is killed, too", async () => {
    const { left } = await orphans(1, "killed, too");
    await eventually(() => expect(left()).toEqual([]), 20_000);
  });
});
