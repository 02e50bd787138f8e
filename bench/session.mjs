// Measures three costs of a session: commands run back to back, a long command, and the first command after a restart
// of bash. latency.mjs measures single commands.

import { median, sleep, spawnBash, spread, timed, withManager } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { readPart } from "./shared/read-part.mjs";
import { table, target } from "./shared/report.mjs";

const ROUNDS = amount(100, 2);
const RESTARTS = amount(30, 2);

await withManager(async (manager) => {
  const session = manager.session("bench", { workingDir: "/tmp" });
  const run = async (command) => {
    const { stdout, stderr } = await session.run(command);
    return readPart(stdout) + readPart(stderr);
  };
  const rows = [];
  for (const command of ["true", "echo hi", "ls /"]) {
    const plain = [];
    const ours = [];
    for (let round = 0; round < ROUNDS; round++) {
      plain.push(await timed(() => spawnBash(command)));
      ours.push(await timed(() => run(command)));
    }
    rows.push([command, `${(median(plain) / median(ours)).toFixed(2)}x`, spread(ours), spread(plain)]);
  }
  table(
    "A session and spawn, back to back, milliseconds as median / p95",
    ["command", "speed relative to spawn", "session", "spawn"],
    rows,
  );

  const long = `: "${"y".repeat(20_000)}"`;
  const longRuns = [];
  for (let round = 0; round < ROUNDS; round++) {
    await sleep(2);
    longRuns.push(await timed(() => session.run(long)));
  }
  const restarts = [];
  for (let round = 0; round < RESTARTS; round++) {
    await session.run("exit 3");
    restarts.push(await timed(() => session.run("true")));
    await sleep(50);
  }
  table(
    "A session, milliseconds as median / p95",
    ["measurement", "ms"],
    [
      ["a command of 20 kB", spread(longRuns)],
      ["the command after `exit 3`, in a new bash with the old state", spread(restarts)],
    ],
  );
  target("time of a 20 kB command in a session", median(longRuns), { atMost: 2 }, " ms");
  target("time of the command after `exit 3`", median(restarts), { atMost: 10 }, " ms");
});
