// How soon a call that waits for approval notices an answer from another process. Measures the time from the moment the
// answer is on disk until the call returns; the command is `true`. Every second request gets two answers at the same
// moment: exactly one of them must win.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createToolkit } from "nacre";
import { quantile, sleep, spread } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { table, target } from "./shared/report.mjs";

const ROUNDS = amount(100, 5);
const epochMs = () => performance.timeOrigin + performance.now();

/** A policy that asks about every command. */
const judge = () => ({
  verdict: "ask",
  rule: "bench",
  severity: "low",
  reason: "It is measured.",
  span: null,
  alternative: null,
  findings: [],
});

const [, , role, root] = process.argv;
await (role === "answer" ? answerRequests(root) : measureAnswers());

/** The other process: approves each request it receives. Sends the time of its answer, or null if another answer won. */
async function answerRequests(stateRoot) {
  const kit = await createToolkit({ stateRoot, poolSize: 0 });
  process.on("message", ({ id, at }) => {
    while (epochMs() < at);
    try {
      kit.approvals.approve(id);
      process.send({ id, answeredMs: epochMs() });
    } catch {
      process.send({ id, answeredMs: null });
    }
  });
  process.on("disconnect", () => kit.dispose());
  process.send("ready");
}

async function measureAnswers() {
  const scratch = mkdtempSync(join(tmpdir(), "nacre-bench-"));
  const stateRoot = join(scratch, "state");
  const workingDir = join(scratch, "work");
  mkdirSync(workingDir);
  let onRequest = () => {};
  const approve = (_, { id }) => {
    onRequest(id);
    return new Promise(() => {});
  };
  const kit = await createToolkit({ workingDir, stateRoot, judge, approve });
  const others = [0, 1].map(() => fork(fileURLToPath(import.meta.url), ["answer", stateRoot]));
  for (const other of others) await once(other, "message");
  const wakeMs = [];
  let doubleWinners = 0;
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const asked = new Promise((resolve) => {
        onRequest = resolve;
      });
      const running = kit.run("true").then(() => epochMs());
      const id = await asked;
      await sleep(10 + Math.random() * 50);
      // Every other round, both processes answer at the same moment.
      const answering = others.slice(0, 1 + (round % 2));
      const answers = answering.map((other) => once(other, "message"));
      const at = epochMs() + 5;
      for (const other of answering) other.send({ id, at });
      const won = (await Promise.all(answers))
        .map(([{ answeredMs }]) => answeredMs)
        .filter((one) => one !== null);
      if (won.length !== 1) doubleWinners++;
      wakeMs.push((await running) - won[0]);
    }
  } finally {
    for (const other of others) other.disconnect();
    await kit.dispose();
    rmSync(scratch, { recursive: true, force: true });
  }
  table(
    "From the answer of another process to the result of the call, ms",
    ["requests", "median / p95", "worst"],
    [[ROUNDS, spread(wakeMs), Math.max(...wakeMs)]],
  );
  target("from the answer to the result of the call, p95", quantile(wakeMs, 0.95), { atMost: 200 }, " ms");
  target("requests without exactly one winner", doubleWinners, { atMost: 0 });
}
