// One GiB of output: throughput into the spool and what it costs the host.
import { mib, sleep, spawnBash, timed, withManager } from "./measure.mjs";

const BYTES = Number(process.env.BENCH_BYTES ?? 1024 ** 3);

await withManager(async (manager) => {
  const command = `head -c ${BYTES} /dev/zero | tr '\\0' x`;
  await spawnBash("true");
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 5);
  let shell;
  const tookMs = await timed(async () => {
    shell = await manager.createShell({ command, workingDir: "/tmp" });
    await shell.wait();
  });
  const rate = BYTES / 1024 ** 2 / (tookMs / 1000);
  let read = 0;
  const readMs = await timed(async () => {
    for await (const { text } of shell.output()) read += text.length;
  });
  await sleep(20);
  clearInterval(watch);
  console.log(
    `${mib(BYTES)} spooled at ${rate.toFixed(0)} MiB/s, read back at ${(read / 1024 ** 2 / (readMs / 1000)).toFixed(0)} MiB/s; host +${mib(peak - before)} at most`,
  );
  if (read !== BYTES) throw new Error(`read ${read} of ${BYTES} bytes`);
});
