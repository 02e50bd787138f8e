// How costs grow with the number of unrelated processes, session variables, live shells and earlier commands. Every
// figure is a ratio: the time with this number, divided by the time with the smallest number of the same run. With more
// processes the machine itself becomes slower, so the benchmark times a spawn of bash before each measurement.
// "Relative to spawn" is the ratio divided by the ratio of spawn, or by 1 if the ratio of spawn is below 1.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ShellManager } from "nacre";
import { median, quantile, runShell, sleep, spawnBash, timed, withManager } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { note, table, target } from "./shared/report.mjs";

const PROCESSES = amount([0, 1_000, 5_000], [0, 20]);
const VARIABLES = amount([0, 100, 1_000, 10_000], [0, 100]);
const SHELLS = amount([0, 100, 1_000], [0, 5]);
const COMMANDS = amount([1, 10_000], [1, 20]);
/** Number of passes through all numbers. Several passes let noise affect all numbers equally. */
const CYCLES = amount(3, 1);
const ROUNDS = amount(8, 1);
const GAP_MS = 10;

const PARTS = { processes, variables, liveShells, commands };
// `node bench/growth.mjs NAME...` runs only these parts.
const wanted = process.argv.slice(2);
for (const [name, part] of Object.entries(PARTS))
  if (wanted.length === 0 || wanted.includes(name)) await part();

async function processes() {
  const found = samples();
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    for (const count of PROCESSES) {
      const endSleepers = await startSleepers(count);
      try {
        await withManager((manager) => withProcesses(manager, count, found));
      } finally {
        await endSleepers();
      }
    }
  }
  report("Growth with unrelated processes", PROCESSES, found);
  const most = PROCESSES.at(-1);
  for (const what of ["start of a host", "kill of a shell", "dispose of a host"])
    target(
      `${what} with ${most} other processes, growth relative to spawn`,
      relativeToSpawn(found, what, most, 0),
      { atMost: 1.3 },
      "x",
    );
  const at = (what) => quantile(found.get(what).get(most), 0.95);
  target(`start of a shell with ${most} other processes, p95`, at("start of a shell"), { atMost: 50 }, " ms");
  target(`polling a shell with ${most} other processes, p95`, at("poll of a shell"), { atMost: 100 }, " ms");
}

async function withProcesses(manager, count, found) {
  const session = manager.session("bench", { workingDir: "/tmp" });
  await session.run("true");
  for (let round = 0; round < ROUNDS; round++) {
    await lifeOfHost(count, found);
    await lifeOfShell(manager, count, found);
    await measureAfterSpawn(count, found, "a session command", () => session.run("true"));
    await measureAfterSpawn(count, found, "a fresh command", () => runShell(manager, "true"));
  }
}

/** Starts a host, runs one command and disposes of the host. */
async function lifeOfHost(count, found) {
  const stateRoot = mkdtempSync(join(tmpdir(), "nacre-bench-"));
  const manager = new ShellManager({ stateRoot });
  await measureAfterSpawn(count, found, "start of a host", () => manager.warmUp());
  await runShell(manager, "true");
  await measureAfterSpawn(count, found, "dispose of a host", () => manager.dispose());
  rmSync(stateRoot, { recursive: true, force: true });
}

async function lifeOfShell(manager, count, found) {
  let shell;
  await measureAfterSpawn(count, found, "start of a shell", async () => {
    shell = await manager.createShell({ command: "echo up; sleep 98765", workingDir: "/tmp" });
  });
  await shell.waitFor({ pattern: /up/ }, 10_000);
  await measureAfterSpawn(count, found, "poll of a shell", async () => shell.getNewOutput());
  await measureAfterSpawn(count, found, "kill of a shell", () => shell.kill({ graceMs: 0 }));
  manager.forget(shell);
}

async function variables() {
  await withManager(async (manager) => {
    const found = samples();
    const sessions = [];
    for (const count of VARIABLES) {
      const session = manager.session(`bench-${count}`, { workingDir: "/tmp" });
      await session.run(`for ((i = 0; i < ${count}; i++)); do printf -v "bench_$i" %s "$i"; done; unset i`);
      sessions.push([count, session]);
    }
    await sleep(500);
    for (let round = 0; round < CYCLES * ROUNDS; round++)
      for (const [count, session] of sessions)
        await measureAfterSpawn(count, found, "a session command", () => session.run("true"));
    report("Growth with the variables of a session", VARIABLES, found);
    const [few, most] = [VARIABLES.at(1), VARIABLES.at(-1)];
    const ratio = relativeToSpawn(found, "a session command", most, few);
    target(
      `a session command with ${most} variables, relative to ${few} variables`,
      ratio,
      { atMost: 1.5 },
      "x",
    );
  });
}

async function liveShells() {
  await withManager(async (manager) => {
    const found = samples();
    const session = manager.session("bench", { workingDir: "/tmp" });
    await session.run("true");
    const live = [];
    for (const count of SHELLS) {
      while (live.length < count) {
        const starting = Array.from({ length: Math.min(16, count - live.length) }, () =>
          manager.createShell({ command: "exec sleep 98765", workingDir: "/tmp" }),
        );
        live.push(...(await Promise.all(starting)));
      }
      await sleep(200);
      for (let round = 0; round < CYCLES * ROUNDS; round++) {
        await lifeOfShell(manager, count, found);
        await measureAfterSpawn(count, found, "a session command", () => session.run("true"));
        await measureAfterSpawn(count, found, "a fresh command", () => runShell(manager, "true"));
      }
    }
    report("Growth with live shells in the host", SHELLS, found);
  });
}

async function commands() {
  await withManager(async (manager) => {
    const found = samples();
    const session = manager.session("bench", { workingDir: "/tmp" });
    // Warm up before the first figure, because compiled code is faster.
    for (let round = 0; round < ROUNDS * CYCLES; round++) {
      await session.run("true");
      await runShell(manager, "true");
    }
    const [first, most] = COMMANDS;
    for (const count of [first, most]) {
      for (let done = first; done < count; done++) {
        await session.run("true");
        if (done % 10 === 0) await runShell(manager, "true");
      }
      await sleep(200);
      for (let round = 0; round < CYCLES * ROUNDS; round++) {
        await lifeOfShell(manager, count, found);
        await measureAfterSpawn(count, found, "a session command", () => session.run("true"));
        await measureAfterSpawn(count, found, "a fresh command", () => runShell(manager, "true"));
      }
    }
    report("Growth with earlier commands", COMMANDS, found);
    note(
      `Before the figures for ${most}, the session ran that many commands, and a fresh shell ran every tenth of them.`,
    );
  });
}

/** Measures a spawn of bash, then the work. */
async function measureAfterSpawn(count, found, what, work) {
  await sleep(GAP_MS);
  add(found, "spawn", count, await timed(() => spawnBash("true")));
  await sleep(GAP_MS);
  add(found, what, count, await timed(work));
}

/** Measured milliseconds, by measurement and by number. */
function samples() {
  return new Map();
}

function add(found, what, count, ms) {
  const byCount = found.get(what) ?? new Map();
  found.set(what, byCount);
  byCount.set(count, [...(byCount.get(count) ?? []), ms]);
}

function growth(found, what, most, least) {
  return median(found.get(what).get(most)) / median(found.get(what).get(least));
}

/** Divides by at least 1: if spawn happens to be faster with the larger number, nacre must not look slower. */
function relativeToSpawn(found, what, most, least) {
  return growth(found, what, most, least) / Math.max(1, growth(found, "spawn", most, least));
}

function report(title, counts, found) {
  const [least, ...more] = counts;
  const names = [...found.keys()].sort((a, b) => Number(a === "spawn") - Number(b === "spawn"));
  table(
    title,
    [
      "measurement",
      ...more.map((count) => `${count} to ${least}, relative to spawn`),
      ...more.map((count) => `${count} to ${least}`),
    ],
    names.map((what) => [
      what,
      ...more.map((count) => `${relativeToSpawn(found, what, count, least).toFixed(2)}x`),
      ...more.map((count) => `${growth(found, what, count, least).toFixed(2)}x`),
    ]),
  );
  table(
    `${title}, median milliseconds`,
    ["measurement", ...counts.map(String)],
    names.map((what) => [what, ...counts.map((count) => median(found.get(what).get(count)))]),
  );
}

/** Starts idle processes in a separate process group. Returns a function that kills them. */
async function startSleepers(count) {
  const program = `for ((i = 0; i < ${count}; i++)); do sleep 98765 & done; echo up; exec sleep 98765`;
  const child = spawn("bash", ["-c", program], { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  await sleep(200);
  return async () => {
    process.kill(-child.pid, "SIGKILL");
    await once(child, "exit");
    await sleep(200);
  };
}
