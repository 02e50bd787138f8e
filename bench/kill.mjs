// Fourteen ways for a process to escape from its shell. Counts the escapes that survive a kill by nacre and by the
// usual methods. The benchmark finds survivors by a mark on their command line, independently of nacre, and kills them.
import { spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ShellManager } from "nacre";
import { sleep, spread } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { importPeer, peerTitle } from "./shared/peers.mjs";
import { note, table, target } from "./shared/report.mjs";
import { connect, SERVERS, serverEnv } from "./shared/servers.mjs";

const escapes = fileURLToPath(new URL("../test/fixtures/bin/escape.sh", import.meta.url));
const ALL_KINDS = [
  "background",
  "nohup",
  "setsid",
  "double-fork",
  "daemon",
  "bare-background",
  "bare-nohup",
  "bare-setsid",
  "bare-double-fork",
  "bare-daemon",
  "term-ignorer",
  "stopped",
  "namespace",
  "other-user",
];
const KINDS = amount(ALL_KINDS, ["background", "bare-daemon"]);
const NOT_PERMITTED = {
  namespace: spawnSync("unshare", ["--user", "--map-root-user", "--pid", "--fork", "true"]).status !== 0,
  "other-user": process.getuid() !== 0,
};
const SETTLE_MAX_MS = 2_000;

const scratch = mkdtempSync(join(tmpdir(), "nacre-bench-"));
const killers = [];
try {
  await openKillers();
  const kinds = KINDS.filter((kind) => !NOT_PERMITTED[kind]);
  const results = new Map(killers.map(({ title }) => [title, []]));
  for (const kind of kinds) {
    for (const killer of killers) results.get(killer.title).push({ kind, ...(await tryOne(killer, kind)) });
  }
  report(kinds, results);
} finally {
  for (const { close } of killers) await close?.();
  rmSync(scratch, { recursive: true, force: true });
}

/** Each killer has a `start` that runs a command and returns a function to kill it. */
async function openKillers() {
  const manager = new ShellManager({ stateRoot: join(scratch, "state") });
  await manager.warmUp();
  killers.push({
    title: "nacre",
    start: async (command) => {
      const shell = await manager.createShell({ command, workingDir: scratch });
      return () => shell.kill({ graceMs: 0 });
    },
    close: () => manager.dispose(),
  });
  killers.push({
    title: "kill(-pgid)",
    start: async (command) => {
      const { pid } = spawn("bash", ["-c", command], { cwd: scratch, stdio: "ignore", detached: true });
      return () => process.kill(-pid, "SIGKILL");
    },
  });
  const treeKill = (await importPeer("tree-kill"))?.default;
  if (treeKill) {
    killers.push({
      title: peerTitle("tree-kill"),
      start: async (command) => {
        const { pid } = spawn("bash", ["-c", command], { cwd: scratch, stdio: "ignore" });
        return () => new Promise((resolve) => treeKill(pid, "SIGKILL", resolve));
      },
    });
  }
  const commander = SERVERS["desktop-commander"]();
  if (commander) {
    const { client, close } = await connect(commander, serverEnv(scratch, "desktop-commander"), scratch);
    killers.push({
      title: commander.title,
      start: async (command) => {
        // The server answers while the command still runs.
        const call = { name: "start_process", arguments: { command, timeout_ms: 1_000, shell: "/bin/bash" } };
        const result = await client.callTool(call, { timeout: 60_000 });
        const pid = Number(/PID (\d+)/.exec(JSON.stringify(result.content))?.[1]);
        return () => client.callTool({ name: "force_terminate", arguments: { pid } });
      },
      close,
    });
  }
}

async function tryOne(killer, kind) {
  const fraction = String(randomInt(100_000_000, 1_000_000_000));
  const mark = `91000.${fraction}`;
  // The shell sources the script, so the processes start as direct children of the shell, where a killer can find them.
  const child = `92000.${fraction}`;
  const kill = await killer.start(`set -- ${kind} ${mark} ${scratch}; . ${escapes}; sleep ${child}`);
  // Check that both programs run: otherwise a process that never started would count as killed.
  if (!(await until(() => programs(mark).length > 0 && programs(child).length > 0, 10_000))) {
    endAll(fraction);
    throw new Error(`${kind} did not start under ${killer.title}`);
  }
  const start = performance.now();
  await kill();
  const took = performance.now() - start;
  // Dying processes need a moment to disappear.
  await until(() => marked(fraction).length === 0, SETTLE_MAX_MS);
  const survivors = programs(mark).length;
  const children = programs(child).length;
  endAll(fraction);
  return { survivors, children, took };
}

function endAll(mark) {
  for (const pid of marked(mark)) process.kill(pid, "SIGKILL");
}

/** Processes that have already called exec; before exec, a fork looks like its shell. */
function programs(mark) {
  return marked(mark, (line) => !line.includes("escape.sh"));
}

async function until(holds, maxMs) {
  const end = performance.now() + maxMs;
  while (!holds()) {
    if (performance.now() > end) return false;
    await sleep(10);
  }
  return true;
}

/** Live processes with this text on their command line. Reads each command line once, because it can change. */
function marked(text, counts = () => true) {
  return readdirSync("/proc")
    .filter((name) => {
      const line = /^\d+$/.test(name) ? commandLine(name) : "";
      return line.includes(text) && counts(line) && !isZombie(name);
    })
    .map(Number);
}

function commandLine(pid) {
  return read(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
}

function isZombie(pid) {
  const stat = read(`/proc/${pid}/stat`);
  return "ZX".includes(stat[stat.lastIndexOf(")") + 2] ?? "X");
}

function read(path) {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function report(kinds, results) {
  const titles = [...results.keys()];
  const escapedFrom = (title) => results.get(title).filter(({ survivors }) => survivors > 0);
  table(
    `Which of ${kinds.length} escapes survive a kill`,
    ["killer", "survive", "which", "plain children that survive", "ms per kill, median / p95"],
    titles.map((title) => [
      title,
      escapedFrom(title).length,
      escapedFrom(title)
        .map(({ kind }) => kind)
        .join(", ") || "none",
      results.get(title).filter(({ children }) => children > 0).length,
      spread(results.get(title).map(({ took }) => took)),
    ]),
  );
  target("escapes that survive a kill by nacre", escapedFrom("nacre").length, { atMost: 0 });
  target("escapes that could be tried", kinds.length, { atLeast: KINDS.length });
  for (const kind of KINDS.filter((one) => NOT_PERMITTED[one]))
    note(`Skipped, because this user lacks the permission: ${kind}.`);
  note("The time of a kill by nacre includes the search for survivors, which the other killers do not do.");
}
