// What the sandbox costs: a fresh command in workspace-write beside plain bwrap with the same mounts and bash without
// either, and a command in a sandboxed session beside one without. Interleaved, so that noise hits all alike.
// BENCH_SRT=DIR, a folder with @anthropic-ai/sandbox-runtime installed, measures that beside them.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ShellManager } from "nacre";
import { ms, quantile, sleep, spawnBash, timed } from "./measure.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 100);
const base = mkdtempSync("/var/tmp/nacre-bench-");
const workspace = join(base, "work");
mkdirSync(workspace);
const open = (name, options) => new ShellManager({ stateRoot: join(base, name), workspace, ...options });
const off = open("off", {});
const boxed = open("boxed", { sandbox: "workspace-write" });

try {
  await Promise.all([off.warmUp(), boxed.warmUp()]);
  await fresh();
  await sessions();
} finally {
  await Promise.all([off.dispose(), boxed.dispose()]);
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
    ...(srt ? { srt: async () => spawnBash(await srt("true")) } : {}),
  };
  const times = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, work] of Object.entries(candidates)) {
      await sleep(10);
      times[name].push(await timed(work));
    }
  }
  console.log("a fresh `true`, 10 ms between commands");
  for (const [name, all] of Object.entries(times)) {
    console.log(`  ${name.padEnd(16)} ${ms(quantile(all, 0.5))} (p95 ${ms(quantile(all, 0.95))})`);
  }
  const middle = (name) => quantile(times[name], 0.5);
  const added = middle("nacre sandboxed") - middle("nacre");
  const plain = middle("bwrap") - middle("bash");
  console.log(
    `  added by the sandbox ${ms(added)}, by plain bwrap ${ms(plain)}: ratio ${(added / plain).toFixed(2)}x`,
  );
  console.log(`  in all, beside plain bwrap: ${(middle("nacre sandboxed") / middle("bwrap")).toFixed(2)}x`);
  if (srt) {
    const theirs = middle("srt") - middle("bash");
    console.log(`  added by sandbox-runtime ${ms(theirs)}: ${(theirs / added).toFixed(1)}x as much`);
  }
}

async function sessions() {
  const pair = [off, boxed].map((manager) => manager.session("bench", { workingDir: workspace }));
  for (const command of ["true", "echo hi", "ls /"]) {
    const times = [[], []];
    for (let round = 0; round < ROUNDS * 2; round++) {
      for (const [index, session] of pair.entries()) {
        await sleep(2);
        times[index].push(await timed(() => session.run(command)));
      }
    }
    const [plain, sandboxed] = times.map((all) => quantile(all, 0.5));
    console.log(
      `in a session, ${command.padEnd(8)} ${ms(plain)}  sandboxed ${ms(sandboxed)}  ratio ${(sandboxed / plain).toFixed(2)}x`,
    );
  }
}

async function run(manager, command) {
  const shell = await manager.createShell({ command, workingDir: workspace, background: false });
  await shell.wait();
  return shell;
}

/** Tidying up is not on the caller's time. */
function forget(manager, shell) {
  setImmediate(() => manager.forget(shell));
}

/** The arguments of a real start, without what only we use. */
function sameMounts(file) {
  const args = readFileSync(file, "utf8").split("\0").slice(0, -1);
  for (const option of ["--seccomp", "--json-status-fd"]) {
    const at = args.indexOf(option);
    if (at >= 0) args.splice(at, 2);
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
  const dir = process.env.BENCH_SRT;
  if (dir === undefined) return undefined;
  const path = createRequire(join(dir, "package.json")).resolve("@anthropic-ai/sandbox-runtime");
  const { SandboxManager } = await import(pathToFileURL(path).href);
  await SandboxManager.initialize({
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: { denyRead: ["~/.ssh"], allowWrite: [workspace], denyWrite: [] },
  });
  process.on("exit", () => void SandboxManager.reset());
  return (command) => SandboxManager.wrapWithSandbox(command);
}
