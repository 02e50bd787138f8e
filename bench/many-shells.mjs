// A thousand background shells at once: first quiet shells, then shells that print a line every 100 ms. Each thousand
// has its own host process. Measures the start, the cost for the host, reading one shell, and killing all shells.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { median, quantile, sleep, timed, withManager } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { table, target } from "./shared/report.mjs";

const COUNT = amount(1_000, 20);
const WATCH_MS = amount(5_000, 500);
const COMMANDS = {
  quiet: "echo up; exec sleep 98765",
  // Prints a line every 100 ms without a sleep process: `read` times out on a pipe that nothing writes to.
  chatty: 'exec 9<> <(:); echo up; while :; do read -rt 0.1 -u 9; echo "tick $SECONDS"; done',
};

let keeperTag;
const [, , kind] = process.argv;
if (kind) process.send(await thousand(COMMANDS[kind]), () => process.disconnect());
else report(await inOwnHost("quiet"), await inOwnHost("chatty"));

/** Runs a thousand shells in a new process: in the same process, the second thousand would reuse memory of the first. */
async function inOwnHost(name) {
  const child = fork(fileURLToPath(import.meta.url), [name], { env: { ...process.env, BENCH_RESULT: "" } });
  const exited = once(child, "exit").then(([code]) => {
    throw new Error(`The host of the ${name} shells ended with ${code}`);
  });
  const [run] = await Promise.race([once(child, "message"), exited]);
  await exited.catch(() => {});
  return run;
}

function report(quiet, chatty) {
  const both = (title, show) => [title, show(quiet), show(chatty)];
  table(
    `${COUNT} background shells in one host`,
    ["measurement", "quiet shells", "shells that print every 100 ms"],
    [
      both("time until all shells have started and printed", (run) => `${(run.startMs / 1000).toFixed(2)} s`),
      both("host memory growth", (run) => `+${run.grownMib.toFixed(0)} MiB`),
      both("host file descriptors, growth", (run) => `+${run.fds}`),
      both(`CPU time of the host in ${WATCH_MS / 1000} s`, (run) => `${run.hostCpuMs.toFixed(0)} ms`),
      both(
        `CPU time of the shells and loggers in ${WATCH_MS / 1000} s`,
        (run) => `${run.shellCpuMs.toFixed(0)} ms`,
      ),
      both(`lines that one shell prints in ${WATCH_MS / 1000} s`, (run) => run.lines),
      both(
        "reading the new output of one shell, median / p99",
        (run) => `${run.read.toFixed(3)} / ${run.readP99.toFixed(3)} ms`,
      ),
      both("time to kill all shells", (run) => `${(run.killMs / 1000).toFixed(2)} s`),
      both("survivors, zombies", (run) => `${run.live}, ${run.zombies}`),
    ],
  );
  for (const [title, run] of [
    ["quiet shells", quiet],
    ["printing shells", chatty],
  ]) {
    target(`time to start ${COUNT} ${title}`, run.startMs / 1000, { atMost: 10 }, " s");
    target(`memory growth of a host with ${COUNT} ${title}`, run.grownMib, { atMost: 64 }, " MiB");
    target(`file descriptors of a host with ${COUNT} ${title}`, run.fds, { atMost: 16 });
    target(`time to read one of ${COUNT} ${title}`, run.read, { atMost: 1 }, " ms");
    target(`time to kill ${COUNT} ${title}`, run.killMs / 1000, { atMost: 3 }, " s");
    target(`survivors and zombies of ${COUNT} ${title}`, run.live + run.zombies, { atMost: 0 });
  }
  target(
    `CPU time of ${COUNT} quiet shells in ${WATCH_MS / 1000} s`,
    quiet.shellCpuMs,
    { atMost: 50 },
    " ms",
  );
}

async function thousand(command) {
  return await withManager(async (manager) => {
    const before = { rss: process.memoryUsage().rss, fds: openFds() };
    let shells = [];
    const startMs = await timed(async () => {
      shells = await Promise.all(
        Array.from({ length: COUNT }, () => manager.createShell({ command, workingDir: "/tmp" })),
      );
      await Promise.all(shells.map((shell) => shell.waitFor({ pattern: /up/ }, 60_000)));
    });
    await sleep(1_000);
    const fds = openFds() - before.fds;
    const one = shells[COUNT >> 1];
    one.getNewOutput();
    const cpu = shellCpu();
    const hostCpu = process.cpuUsage();
    await sleep(WATCH_MS);
    const host = process.cpuUsage(hostCpu);
    const shellCpuMs = shellCpu() - cpu;
    const lines = one.getNewOutput().split("\n").length - 1;
    const reads = [];
    for (let round = 0; round < 200; round++) {
      reads.push(await timed(() => shells[(round * 7) % COUNT].getNewOutput()));
      await sleep(1);
    }
    // Take the peak after the reads, because they use memory too.
    const grownMib = process.resourceUsage().maxRSS / 1024 - before.rss / 1024 ** 2;
    // All shells must still be running: otherwise killAll() would have less to do.
    const running = left(shells).live;
    if (running < COUNT) throw new Error(`only ${running} of ${COUNT} shells are running`);
    const killMs = await timed(() => manager.killAll());
    // Wait for the keeper: shims that have just ended are zombies until it reaps them.
    const end = performance.now() + 1_000;
    while (left(shells).zombies > 0 && performance.now() < end) await sleep(20);
    const { live, zombies } = left(shells);
    const hostCpuMs = (host.user + host.system) / 1000;
    const read = median(reads);
    const readP99 = quantile(reads, 0.99);
    return {
      startMs,
      grownMib,
      fds,
      hostCpuMs,
      shellCpuMs,
      read,
      readP99,
      killMs,
      live,
      lines,
      zombies,
    };
  });
}

function openFds() {
  return readdirSync("/proc/self/fd").length;
}

function each(use) {
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      use(name);
    } catch {
      // The process has ended in the meantime.
    }
  }
}

/** CPU time of the running processes that this process's keeper started. */
function shellCpu() {
  let nanoseconds = 0;
  each((pid) => {
    if (isOurs(pid)) nanoseconds += Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]);
  });
  return nanoseconds / 1e6;
}

/** Counts live command processes and zombies in the process table. */
function left(shells) {
  const starts = new Map(shells.map(({ started }) => [String(started.commandPid), started.commandStart]));
  let live = 0;
  let zombies = 0;
  each((pid) => {
    const stat = statOf(pid);
    // Skip zombies whose parent is init: only init can reap them.
    if (stat[0] === "Z") zombies += stat[1] !== "1" && isOurs(pid) ? 1 : 0;
    else if (starts.has(pid) && starts.get(pid) === stat[19]) live++;
  });
  return { live, zombies };
}

/** The fields of /proc/PID/stat after the name. The first is the state. */
function statOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Whether the process has the tag of this host's keeper. Zombies keep their tag. */
function isOurs(pid) {
  if (!keeperTag) {
    each((one) => {
      const isKeeper = readFileSync(`/proc/${one}/comm`, "utf8") === "nacre-keeper\n";
      if (isKeeper && Number(statOf(one)[1]) === process.pid) keeperTag = tagOf(one);
    });
  }
  return keeperTag !== undefined && tagOf(pid) === keeperTag;
}

function tagOf(pid) {
  const [, tag] = /^Max file locks +\S+ +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8")) ?? [];
  return tag === undefined ? undefined : String(BigInt(tag) >> 52n);
}
