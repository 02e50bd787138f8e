// A fresh stateless command, start to result, beside spawn('bash', ['-c', ...]) with pipes. Interleaved, so
// that noise hits both alike.
import { ms, quantile, runShell, sleep, spawnBash, timed, withManager } from "./measure.mjs";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 150);

await withManager(async (manager) => {
  for (const [title, gapMs] of [
    ["10 ms between commands", 10],
    ["back to back", 0],
  ]) {
    console.log(title);
    for (const command of ["true", "echo hi", "ls /"]) {
      const plain = [];
      const ours = [];
      for (let round = 0; round < ROUNDS; round++) {
        await sleep(gapMs);
        plain.push(await timed(() => spawnBash(command)));
        await sleep(gapMs);
        ours.push(await timed(() => runShell(manager, command)));
      }
      const ratio = quantile(ours, 0.5) / quantile(plain, 0.5);
      console.log(
        `  ${command.padEnd(8)} spawn ${ms(quantile(plain, 0.5))} (p95 ${ms(quantile(plain, 0.95))})  nacre ${ms(quantile(ours, 0.5))} (p95 ${ms(quantile(ours, 0.95))})  ratio ${ratio.toFixed(2)}x`,
      );
    }
  }
  for (const inFlight of [1, 4]) {
    const perSecond = async (run) => {
      let done = 0;
      const end = performance.now() + 2_000;
      await Promise.all(
        Array.from({ length: inFlight }, async () => {
          while (performance.now() < end) {
            await run("true");
            done++;
          }
        }),
      );
      return done / 2;
    };
    const plain = await perSecond(spawnBash);
    const ours = await perSecond((command) => runShell(manager, command));
    console.log(`throughput, ${inFlight} in flight: spawn ${plain.toFixed(0)}/s  nacre ${ours.toFixed(0)}/s`);
  }
});
