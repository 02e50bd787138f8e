// A thousand background shells at once: starting, idling, reading one, killing all.
import { readdirSync, readFileSync } from "node:fs";
import { mib, ms, quantile, sleep, timed, withManager } from "./measure.mjs";

const COUNT = Number(process.env.BENCH_SHELLS ?? 1_000);
const marker = `98765.${process.pid}`;

await withManager(async (manager) => {
  const before = { rss: process.memoryUsage().rss, fds: openFds() };
  let shells = [];
  const startMs = await timed(async () => {
    const command = `echo up; exec sleep ${marker}`;
    shells = await Promise.all(
      Array.from({ length: COUNT }, () => manager.createShell({ command, workingDir: "/tmp" })),
    );
    await Promise.all(shells.map((shell) => shell.waitFor({ pattern: /up/ }, 60_000)));
  });
  console.log(`${COUNT} shells started, all with output: ${(startMs / 1000).toFixed(2)} s`);
  const grown = process.memoryUsage().rss - before.rss;
  console.log(`host: +${mib(grown)}, fds +${openFds() - before.fds}`);

  const one = shells[COUNT >> 1];
  const reads = [];
  for (let round = 0; round < 200; round++) reads.push(await timed(() => one.getNewOutput()));
  console.log(`reading one among them: ${ms(quantile(reads, 0.5))} (p99 ${ms(quantile(reads, 0.99))})`);

  await sleep(500);
  const cpu = cpuTicks();
  const hostCpu = process.cpuUsage();
  await sleep(5_000);
  const host = process.cpuUsage(hostCpu);
  console.log(
    `5 s idle: shells ${cpuTicks() - cpu} ticks, host ${((host.user + host.system) / 1000).toFixed(0)} ms of CPU`,
  );

  const killMs = await timed(() => manager.killAll());
  const { live, zombies } = left();
  console.log(`all killed: ${(killMs / 1000).toFixed(2)} s, survivors ${live}, zombies ${zombies}`);
  const statuses = new Set(shells.map((shell) => shell.status));
  console.log(`statuses: ${[...statuses].join(", ")}`);
});

function openFds() {
  return readdirSync("/proc/self/fd").length;
}

function each(use) {
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      use(name);
    } catch {
      // Gone meanwhile.
    }
  }
}

/** CPU time of everything but this process. */
function cpuTicks() {
  let ticks = 0;
  each((pid) => {
    if (Number(pid) === process.pid) return;
    const comm = readFileSync(`/proc/${pid}/comm`, "utf8").trim();
    if (!["sleep", "bash", "nacre-shim", "nacre-log", "nacre-keeper"].includes(comm)) return;
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    ticks += Number(fields[11]) + Number(fields[12]);
  });
  return ticks;
}

function left() {
  let live = 0;
  let zombies = 0;
  each((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    if (stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z")) zombies++;
    else if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(marker)) live++;
  });
  return { live, zombies };
}
