// Measures how long the start of a shell blocks the event loop, in a small host process and in a host process of 2 GB.
// nacre and plain spawn alternate, so that noise affects both equally.
import { spawn } from "node:child_process";
import { median, mib, sleep, withManager } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { table, target } from "./shared/report.mjs";

const STARTS = amount(30, 2);
const BALLAST_BLOCKS = amount(16, 1);
const rows = [];
await withManager(async (manager) => {
  await measure(manager, "a small host");
  // Buffers are outside the JavaScript heap, like most memory of real hosts. Fill them: untouched pages cost nothing.
  const ballast = Array.from({ length: BALLAST_BLOCKS }, () => Buffer.alloc(128 * 1024 ** 2, 1));
  await measure(manager, "a large host");
  if (ballast.length !== BALLAST_BLOCKS) throw new Error("unreachable");
});
table(
  "How long a start blocks the event loop",
  ["host", "nacre, relative to spawn", "nacre, median and worst", "spawn, median and worst"],
  rows,
);

async function measure(manager, title) {
  const [plain, ours] = [[], []];
  for (let round = 0; round < STARTS; round++) {
    plain.push(
      await blocked(() => {
        const child = spawn("bash", ["-c", "true"], { cwd: "/tmp", stdio: ["ignore", "pipe", "pipe"] });
        child.stdout.resume();
        child.stderr.resume();
        return new Promise((resolve) => child.on("close", resolve));
      }),
    );
    ours.push(
      await blocked(async () => {
        const shell = await manager.createShell({ command: "true", workingDir: "/tmp" });
        await shell.wait();
      }),
    );
  }
  const both = (values) => `${median(values).toFixed(2)} ms, ${Math.max(...values).toFixed(2)} ms`;
  const host = `${title} (${mib(process.memoryUsage().rss)})`;
  rows.push([host, `${(median(ours) / median(plain)).toFixed(3)}x`, both(ours), both(plain)]);
  target(`event loop blocked per start in ${title}, median`, median(ours), { atMost: 2 }, " ms");
}

/** The longest time between two turns of the event loop. */
async function blocked(start) {
  await sleep(20);
  let longest = 0;
  let last = performance.now();
  let isRunning = true;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (isRunning) setImmediate(turn);
  };
  setImmediate(turn);
  await new Promise((resolve) => setImmediate(resolve));
  await start();
  isRunning = false;
  return longest;
}
