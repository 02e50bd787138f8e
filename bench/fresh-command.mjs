// A fresh command outside a session, from start to result, compared with spawn('bash', ['-c', ...]) with pipes. The
// two alternate, so that noise affects both equally.
import { median, runShell, sleep, spawnBash, spread, timed, withManager } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { table, target } from "./shared/report.mjs";

const ROUNDS = amount(100, 2);
const THROUGHPUT_MS = amount(2_000, 100);
const COMMANDS = ["true", "echo hi", "ls /"];

await withManager(async (manager) => {
  const rows = [];
  for (const [title, gapMs] of [
    ["10 ms between commands", 10],
    ["back to back", 0],
  ]) {
    for (const command of COMMANDS) {
      const plain = [];
      const ours = [];
      for (let round = 0; round < ROUNDS; round++) {
        await sleep(gapMs);
        plain.push(await timed(() => spawnBash(command)));
        await sleep(gapMs);
        ours.push(await timed(() => runShell(manager, command)));
      }
      const ratio = median(ours) / median(plain);
      rows.push([title, command, `${ratio.toFixed(2)}x`, spread(ours), spread(plain)]);
      if (gapMs > 0)
        target(
          `\`${command}\` in a fresh shell, time relative to spawn, ${title}`,
          ratio,
          { atMost: 1.5 },
          "x",
        );
    }
  }
  table(
    "A fresh shell and spawn, milliseconds as median / p95",
    ["pace", "command", "relative to spawn", "nacre", "spawn"],
    rows,
  );
  table(
    "Throughput of `true`, commands per second",
    ["in flight", "relative to spawn", "nacre", "spawn"],
    [await throughput(manager, 1), await throughput(manager, 4)],
  );
});

async function throughput(manager, inFlight) {
  const perSecond = async (run) => {
    let done = 0;
    const end = performance.now() + THROUGHPUT_MS;
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        while (performance.now() < end) {
          await run("true");
          done++;
        }
      }),
    );
    return done / (THROUGHPUT_MS / 1000);
  };
  const plain = await perSecond((command) => spawnBash(command));
  const ours = await perSecond((command) => runShell(manager, command));
  return [inFlight, `${(ours / plain).toFixed(2)}x`, Math.round(ours), Math.round(plain)];
}
