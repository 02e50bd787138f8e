// A host dies with a thousand running and a thousand finished durable shells. Measures how long the next host takes to
// adopt them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ShellManager } from "nacre";
import { timed } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { table, target } from "./shared/report.mjs";

const COUNT = amount(1_000, 20);
const [role, root] = process.argv.slice(2);
if (role === "host") await host();
else await adopter();

async function host() {
  const manager = new ShellManager({ stateRoot: root, maxLiveShells: 10_000 });
  const start = (command) => manager.createShell({ command, workingDir: "/", durable: true });
  const all = (command) => Promise.all(Array.from({ length: COUNT }, () => start(command)));
  for (const shell of await all("echo finished; exit 3")) await shell.wait();
  for (const shell of await all("echo live; exec sleep 3600")) await shell.waitFor({ pattern: /live/ });
  console.log("ready");
  setInterval(() => {}, 1_000_000);
}

async function adopter() {
  const stateRoot = mkdtempSync(join(tmpdir(), "nacre-bench-"));
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "host", stateRoot], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, BENCH_RESULT: "" },
  });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  const manager = new ShellManager({ stateRoot });
  try {
    let adopted = [];
    const took = await timed(async () => {
      adopted = await manager.adopt();
    });
    const running = adopted.filter((shell) => shell.isRunning).length;
    const finished = adopted.filter((shell) => shell.exitCode === 3).length;
    table(
      `The next host adopts ${COUNT} running and ${COUNT} finished durable shells`,
      ["running shells found", "finished shells found", "time"],
      [[running, finished, `${(took / 1000).toFixed(2)} s`]],
    );
    target(`time to adopt ${COUNT} running and ${COUNT} finished shells`, took / 1000, { atMost: 2 }, " s");
    target("shells found", running + finished, { atLeast: 2 * COUNT });
  } finally {
    // Adopt and kill the remaining shells as well: nothing else would end them.
    while ((await manager.adopt()).length > 0);
    await manager.killAll();
    await manager.dispose();
    rmSync(stateRoot, { recursive: true, force: true });
  }
}
