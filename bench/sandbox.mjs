// The cost of the sandbox. Compares three ways to run a fresh command: nacre in the profile workspace-write, plain
// bwrap with the same mounts, and bash alone. Then compares a sandboxed session with an unsandboxed one. The cases
// alternate, so that noise affects all equally.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ShellManager } from "nacre";
import { median, sleep, spawnBash, spread, timed } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { importPeer, peerTitle } from "./shared/peers.mjs";
import { absent, table, target } from "./shared/report.mjs";

const SRT = peerTitle("sandbox-runtime");
const ROUNDS = amount(100, 2);
const base = mkdtempSync("/var/tmp/nacre-bench-");
const workspace = join(base, "work");
mkdirSync(workspace);
const open = (name, options) => new ShellManager({ stateRoot: join(base, name), workspace, ...options });
const off = open("off", {});
const boxed = open("boxed", { sandbox: "workspace-write" });

// Ends the peer's proxies: otherwise they keep this process alive.
const cleanups = [];
try {
  await Promise.all([off.warmUp(), boxed.warmUp()]);
  await fresh();
  await sessions();
} finally {
  await Promise.all([off.dispose(), boxed.dispose(), ...cleanups.map((cleanUp) => cleanUp())]);
  rmSync(base, { recursive: true, force: true });
}

async function fresh() {
  const kept = await run(boxed, "true");
  const args = sameMounts(join(kept.started.files.dir, "sandbox.args"));
  const srt = await loadSrt();
  const candidates = {
    bash: () => spawnBash("true"),
    bwrap: () => spawned("bwrap", [...args, "--", "bash", "-c", "true"]),
    nacre: async () => forget(off, await run(off, "true")),
    "nacre sandboxed": async () => forget(boxed, await run(boxed, "true")),
    ...(srt ? { [SRT]: async () => spawnBash(await srt("true")) } : {}),
  };
  const times = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, work] of Object.entries(candidates)) {
      await sleep(10);
      times[name].push(await timed(work));
    }
  }
  const medianOf = (name) => median(times[name]);
  table(
    "A fresh `true`, 10 ms between commands",
    ["method", "relative to plain bwrap", "ms, median / p95"],
    Object.keys(times).map((name) => [
      name,
      `${(medianOf(name) / medianOf("bwrap")).toFixed(2)}x`,
      spread(times[name]),
    ]),
  );
  const added = medianOf("nacre sandboxed") - medianOf("nacre");
  const plain = medianOf("bwrap") - medianOf("bash");
  target("time that the sandbox adds, relative to plain bwrap", added / plain, { atMost: 1.3 }, "x");
  if (srt) {
    const theirs = medianOf(SRT) - medianOf("bash");
    target("time that sandbox-runtime adds, relative to nacre", theirs / added, { atLeast: 3 }, "x");
  }
}

async function sessions() {
  const pair = [off, boxed].map((manager) => manager.session("bench", { workingDir: workspace }));
  const rows = [];
  for (const command of ["true", "echo hi", "ls /"]) {
    const times = [[], []];
    for (let round = 0; round < ROUNDS * 2; round++) {
      for (const [index, session] of pair.entries()) {
        await sleep(2);
        times[index].push(await timed(() => session.run(command)));
      }
    }
    const ratio = median(times[1]) / median(times[0]);
    rows.push([command, `${ratio.toFixed(2)}x`, spread(times[1]), spread(times[0])]);
    target(
      `\`${command}\` in a sandboxed session, time relative to unsandboxed`,
      ratio,
      { atMost: 1.2 },
      "x",
    );
  }
  table(
    "In a session, milliseconds as median / p95",
    ["command", "relative to unsandboxed", "sandboxed", "unsandboxed"],
    rows,
  );
}

async function run(manager, command) {
  const shell = await manager.createShell({ command, workingDir: workspace, background: false });
  await shell.wait();
  return shell;
}

/** Forgets the shell after the measured time, so that the measurement excludes the cleanup. */
function forget(manager, shell) {
  setImmediate(() => manager.forget(shell));
}

/**
 * The bwrap arguments of a real start, except those for nacre's file descriptors and placeholders: by now, the
 * descriptors are closed and the placeholders are removed.
 */
function sameMounts(file) {
  const args = readFileSync(file, "utf8").split("\0").slice(0, -1);
  for (const option of ["--seccomp", "--json-status-fd"]) {
    const at = args.indexOf(option);
    if (at >= 0) args.splice(at, 2);
  }
  for (let at = args.length - 3; at >= 0; at--) {
    if (args[at] === "--ro-bind" && !existsSync(args[at + 1])) args.splice(at, 3);
  }
  return args;
}

function spawned(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.resume();
    child.stderr.resume();
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`)),
    );
  });
}

async function loadSrt() {
  const runtime = await importPeer("sandbox-runtime");
  if (!runtime) return undefined;
  const { SandboxManager } = runtime;
  try {
    await SandboxManager.initialize({
      network: { allowedDomains: [], deniedDomains: [] },
      filesystem: { denyRead: ["~/.ssh"], allowWrite: [workspace], denyWrite: [] },
    });
    const { code } = await spawnBash(await SandboxManager.wrapWithSandbox("true"));
    if (code !== 0) throw new Error(`\`true\` ends with ${code} in its sandbox`);
  } catch (error) {
    absent(SRT, `it does not work on this machine: ${error.message.split("\n")[0]}`);
    return undefined;
  }
  cleanups.push(() => SandboxManager.reset());
  return (command) => SandboxManager.wrapWithSandbox(command);
}
