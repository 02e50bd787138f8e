// A command in a session, call to result with its output read, beside spawn('bash', ['-c', ...]) with pipes.
// Interleaved, so that noise hits both alike; then the same in a host of 2 GB, a long command, a restart.
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ms, quantile, sleep, spawnBash, timed, withManager } from "./measure.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 150);
const repo = mkdtempSync(join(tmpdir(), "nacre-bench-repo-"));
execFileSync("git", ["init", "-q", repo]);
for (let i = 0; i < 20; i++) writeFileSync(join(repo, `file${i}`), "x");
process.chdir(repo);

/** As a caller would: the output as text. */
async function runInSession(session, command) {
  const result = await session.run(command);
  return readPart(result.stdout) + readPart(result.stderr);
}

function readPart({ path, from, to }) {
  if (to <= from) return "";
  const fd = openSync(path, "r");
  const bytes = Buffer.allocUnsafe(to - from);
  readSync(fd, bytes, 0, bytes.length, from);
  closeSync(fd);
  return bytes.toString();
}

async function compare(session, gapMs, commands) {
  for (const command of commands) {
    const plain = [];
    const ours = [];
    for (let round = 0; round < ROUNDS; round++) {
      await sleep(gapMs);
      plain.push(await timed(() => spawnBash(command)));
      await sleep(gapMs);
      ours.push(await timed(() => runInSession(session, command)));
    }
    const ratio = quantile(plain, 0.5) / quantile(ours, 0.5);
    console.log(
      `  ${command.slice(0, 12).padEnd(12)} spawn ${ms(quantile(plain, 0.5))} (p95 ${ms(quantile(plain, 0.95))})  session ${ms(quantile(ours, 0.5))} (p95 ${ms(quantile(ours, 0.95))})  ${ratio.toFixed(1)}x faster`,
    );
  }
}

await withManager(async (manager) => {
  const session = manager.session("bench", { workingDir: repo });
  const commands = ["true", "echo hi", "ls", "git status"];
  console.log("5 ms between commands");
  await compare(session, 5, commands);
  console.log("back to back");
  await compare(session, 0, commands);

  const long = `: "${"y".repeat(20_000)}"`;
  const longRuns = [];
  for (let round = 0; round < ROUNDS; round++) {
    await sleep(2);
    longRuns.push(await timed(() => session.run(long)));
  }
  console.log(`a command of 20 kB: ${ms(quantile(longRuns, 0.5))} (p95 ${ms(quantile(longRuns, 0.95))})`);

  const restarts = [];
  for (let round = 0; round < 30; round++) {
    await session.run("exit 3");
    restarts.push(await timed(() => session.run("true")));
    await sleep(50);
  }
  console.log(
    `the command after exit 3: ${ms(quantile(restarts, 0.5))} (p95 ${ms(quantile(restarts, 0.95))})`,
  );

  const ballast = Array.from({ length: 16 }, () => Buffer.alloc(128 * 1024 ** 2, 1));
  console.log("in a host of 2 GB");
  await compare(session, 5, ["true", "echo hi"]);
  if (ballast.length !== 16) throw new Error("unreachable");
});
process.chdir("/");
rmSync(repo, { recursive: true, force: true });
