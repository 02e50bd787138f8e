// A keeper that runs for a long time does not grow or delay kills. It reads requests in pieces of any size.
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Engine } from "../../src/engine/engine.ts";
import type { ProcessScope } from "../../src/engine/process-scope.ts";
import { isSameProcess } from "../../src/engine/process-table.ts";
import type { StartedShell } from "../../src/engine/started-shell.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { endShells, type KillTarget } from "../../src/shell/kill.ts";
import { deferred } from "../../src/support/timing.ts";
import { useBareKeepers } from "../fixtures/bare-keeper.ts";
import { processesTouching } from "../fixtures/leak-proof.ts";
import { isLong } from "../fixtures/long.ts";
import { metaOf } from "../fixtures/metas.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, run, directory } = useShells();
const bareKeeper = useBareKeepers(directory);

const STARTS = isLong ? 50_000 : 250;
// If the keeper did not remove its jobs from bash's job table, each job would need 300 bytes there.
const GROWTH_MAX_KIB = isLong ? 512 : 80;

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]);
}

function privateKib(pid: number): number {
  return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

function keeperFacts(pid: number, keeperDir: string) {
  return {
    fds: readdirSync(`/proc/${pid}/fd`).length,
    files: readdirSync(keeperDir).length,
    children: readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").length,
  };
}

test(`the memory of a keeper does not grow over ${STARTS} shells`, { timeout: 3_600_000 }, async () => {
  const shells = manager({ maxLiveShells: 100 });
  const batch = async (count: number) => {
    const ended = await Promise.all(
      Array.from({ length: count }, () => run(shells, ":", { background: false })),
    );
    for (const shell of ended) {
      expect(shell.exitCode).toBe(0);
      shells.forget(shell);
    }
  };
  const first = await run(shells, ":");
  const { started } = await shells.createShell({ command: "exec sleep infinity", workingDir: "/" });
  const keeper = parentOf(started.shimPid);
  const [keeperDir = ""] = readdirSync(shells.root.keepersDir).map((name) =>
    join(shells.root.keepersDir, name),
  );
  // Warm up: some memory grows once, to the size of a batch. It reaches that size here.
  for (let i = 0; i < 10; i++) await batch(10);
  const before = { ...keeperFacts(keeper, keeperDir), kib: privateKib(keeper) };
  for (let done = 0; done < STARTS; done += 10) await batch(10);
  const after = await eventually(() => {
    const facts = keeperFacts(keeper, keeperDir);
    expect(facts.children).toBeLessThanOrEqual(before.children + 2);
    return facts;
  });
  expect(parentOf(started.shimPid)).toBe(keeper);
  expect(after.fds).toBe(before.fds);
  expect(after.files).toBe(before.files);
  expect(privateKib(keeper) - before.kib).toBeLessThanOrEqual(GROWTH_MAX_KIB);
  shells.forget(first);
  expect(readdirSync(shells.root.shellsDir).length).toBeLessThanOrEqual(8);
});

test("a kill does not wait for hundreds of queued starts", async () => {
  const shells = manager({ maxLiveShells: 500 });
  const victim = await shells.createShell({ command: "exec sleep 300", workingDir: "/" });
  let startedCount = 0;
  const starts = Array.from({ length: 300 }, async () => {
    await shells.createShell({ command: "exec sleep 300", workingDir: "/" });
    startedCount++;
  });
  const report = await victim.kill({ graceMs: 0 });
  expect(startedCount).toBeLessThan(290);
  expect(report.survivors).toEqual([]);
  expect(victim.status).toBe("killed");
  await Promise.all(starts);
  expect(shells.listRunning()).toHaveLength(300);
  expect(await shells.killAll()).toBe(300);
  expect(shells.listRunning()).toEqual([]);
});

test("each scan of the process table by a kill covers all shells to kill, whether one or forty", async () => {
  const root = new StateRoot(join(directory(), "state"));
  const engine = new Engine({ root, environment: { PATH: "/usr/bin:/bin" } });
  try {
    for (const count of [1, 40]) {
      const targets = await Promise.all(Array.from({ length: count }, () => sleeper(engine)));
      /** The number of shells in each scan. */
      const scans: number[] = [];
      const reports = await endShells(
        counting(engine, (shells) => scans.push(shells.length)),
        targets,
        0,
      );
      expect([...reports.values()].flatMap(({ survivors }) => survivors)).toEqual([]);
      // Compare PID and start time: another process can have reused the PID.
      const alive = targets.filter(({ started }) => isSameProcess(started.commandPid, started.commandStart));
      expect(alive.map(({ started }) => started.commandPid)).toEqual([]);
      // On a busy machine, killed processes take longer to end, so the number of scans varies.
      expect(scans.length).toBeGreaterThan(0);
      expect(scans).toEqual(scans.map(() => count));
    }
  } finally {
    await engine.dispose();
  }
});

/** The engine's process scope. Calls `onScan` with the shells of every scan. */
function counting(engine: Engine, onScan: (shells: readonly StartedShell[]) => void): ProcessScope {
  return {
    processesOf: (shells) => {
      onScan(shells);
      return engine.processesOf(shells);
    },
    signalNewProcesses: (shells, plan, onSignalled) => engine.signalNewProcesses(shells, plan, onSignalled),
    signalGroup: (shell, signal) => engine.signalGroup(shell, signal),
  };
}

async function sleeper(engine: Engine): Promise<KillTarget> {
  const ended = deferred<unknown>();
  const started = await engine.start({
    command: "exec sleep 300",
    workingDir: "/",
    variables: {},
    capBytes: 1024 ** 2,
    streams: "merged",
    meta: (id) => metaOf({ id, streams: "merged", capBytes: 1024 ** 2 }),
    onExit: ended.resolve,
  });
  return { started, ended: ended.promise };
}

// --- the keeper program by itself ------------------------------------------------------------------

test("a request that arrives one byte at a time counts as one request", async () => {
  const { child, line, slot, env } = await bareKeeper();
  for (const byte of Buffer.from(env + slot(7))) {
    await new Promise<void>((resolve) => child.stdin.write(Buffer.of(byte), () => setImmediate(resolve)));
  }
  expect(await line()).toMatch(/^ready 7( \d+){3}/);
});

test("requests that arrive at the same time are all answered", async () => {
  const { child, line, slot, env } = await bareKeeper();
  const numbers = Array.from({ length: 20 }, (_, i) => i);
  child.stdin.write(env + numbers.map(slot).join(""));
  const ready: number[] = [];
  while (ready.length < numbers.length) {
    const [, number] = /^ready (\d+) /.exec((await line()) ?? "") ?? [];
    ready.push(Number(number));
  }
  expect(ready.sort((a, b) => a - b)).toEqual(numbers);
});

test("a request that is cut short by the host's exit starts nothing", async () => {
  const { dir, child, line, slot, env } = await bareKeeper();
  child.stdin.end(env + slot(7).slice(0, -5));
  await once(child, "exit");
  expect([await line(), await line()]).toEqual(["gone", undefined]);
  expect(processesTouching(dir)).toEqual([]);
});

test.each(["with tags", "without tags"])(
  "a host that exits right after it has requested shells leaves nothing behind, %s",
  async (how) => {
    for (let i = 0; i < 5; i++) {
      const { dir, child, slot, env } = await bareKeeper({ tagged: how === "with tags" });
      child.stdin.end(env + slot(1) + slot(2));
      await once(child, "exit");
      await eventually(() => expect(processesTouching(dir)).toEqual([]));
    }
  },
);
