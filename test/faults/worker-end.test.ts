// The shells of a manager in a worker thread end with the thread, even if the process keeps running.
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { directory } = useShells();

const WORKER = `
const { parentPort, workerData } = require("node:worker_threads");
(async () => {
  const { ShellManager } = await import(workerData.library);
  const manager = new ShellManager({ stateRoot: workerData.stateRoot });
  const shell = await manager.createShell({ command: "sleep 300", workingDir: "/" });
  parentPort.postMessage(shell.started.commandPid);
  setInterval(() => {}, 1000);
})();
`;

test("a shell that is not durable ends with the worker that started it", async () => {
  const library = new URL("../../dist/index.js", import.meta.url).href;
  const worker = new Worker(WORKER, {
    eval: true,
    workerData: { library, stateRoot: join(directory(), "state") },
  });
  onTestFinished(async () => void (await worker.terminate()));
  const [pid] = (await once(worker, "message")) as [number];
  expect(isAlive(pid)).toBe(true);
  await worker.terminate();
  await eventually(() => expect(isAlive(pid)).toBe(false), 20_000);
});
