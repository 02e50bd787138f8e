// How long starting a shell blocks the event loop, in a small host and in one of 2 GB.
import { spawn } from "node:child_process";
import { mib, ms, quantile, sleep, withManager } from "./measure.mjs";

await withManager(async (manager) => {
  await report(manager, "small host");
  // Ballast as in real hosts: touched, outside the JavaScript heap.
  const ballast = Array.from({ length: 16 }, () => Buffer.alloc(128 * 1024 ** 2, 1));
  await report(manager, "large host");
  if (ballast.length !== 16) throw new Error("unreachable");
});

async function report(manager, title) {
  const plain = await blocked(30, () => {
    const child = spawn("bash", ["-c", "true"], { stdio: "ignore" });
    return new Promise((resolve) => child.on("close", resolve));
  });
  const ours = await blocked(30, async () => {
    const shell = await manager.createShell({ command: "true", workingDir: "/tmp" });
    await shell.wait();
  });
  const line = (values) => `${ms(quantile(values, 0.5))} (worst ${ms(Math.max(...values))})`;
  console.log(
    `${title} (${mib(process.memoryUsage().rss)}): blocked per start: spawn ${line(plain)}  nacre ${line(ours)}`,
  );
}

/** The longest stretch without the event loop turning, per start. */
async function blocked(rounds, start) {
  const worst = [];
  for (let round = 0; round < rounds; round++) {
    await sleep(20);
    let longest = 0;
    let last = performance.now();
    let on = true;
    const turn = () => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      if (on) setImmediate(turn);
    };
    setImmediate(turn);
    await new Promise((resolve) => setImmediate(resolve));
    await start();
    on = false;
    worst.push(longest);
  }
  return worst;
}
