// Previews: measures how much longer a command takes to start than in the sandbox alone, how long it takes to list
// 10,000 changes, and the time from a write past the cap to the end of the command.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createToolkit } from "nacre";
import { quantile, spread } from "./measure.mjs";
import { amount } from "./shared/amount.mjs";
import { table, target } from "./shared/report.mjs";

const STARTS = amount(60, 3);
const CHANGES = amount(10_000, 500);
const CAPS = amount(5, 1);
const FILES = 200;

// Use /var/tmp, because a sandbox has its own /tmp.
const scratch = mkdtempSync("/var/tmp/nacre-bench-");
const workingDir = join(scratch, "work");
mkdirSync(workingDir);
for (let i = 0; i < FILES; i++) writeFileSync(join(workingDir, `file${i}`), "content\n");
const options = { workingDir, stateRoot: join(scratch, "state"), with: ["preview"], policy: "off" };
const kit = await createToolkit({ ...options, sandbox: "workspace-write" });
const plain = await createToolkit(options);
const capped = await createToolkit({ ...options, maxPreviewBytes: 20_000_000 });
try {
  await measureStarts();
  await measureList();
  await measureCap();
} finally {
  await Promise.all([kit, plain, capped].map((one) => one.dispose()));
  rmSync(scratch, { recursive: true, force: true });
}

/** Milliseconds from the call to the first output. */
async function startMs(running) {
  const began = performance.now();
  let took;
  for await (const _ of running) took ??= performance.now() - began;
  await running;
  return took;
}

async function measureStarts() {
  const [alone, previewed] = [[], []];
  for (let i = 0; i < STARTS + 2; i++) {
    const [one, other] = [await startMs(kit.run("echo x")), await startMs(kit.preview("echo x"))];
    // The first runs also test whether the sandbox works.
    if (i < 2) continue;
    alone.push(one);
    previewed.push(other);
  }
  table(
    "From the call to the first output, ms",
    ["run in", "median / p95"],
    [
      ["sandbox", spread(alone)],
      ["sandbox and preview", spread(previewed)],
    ],
  );
  const more = quantile(previewed, 0.5) - quantile(alone, 0.5);
  target(
    "extra time to start a preview, compared with the sandbox alone (median)",
    more,
    { atMost: 15 },
    " ms",
  );
}

async function measureList() {
  const command = `mkdir new; for ((i = 0; i < ${CHANGES}; i++)); do : >new/$i; done; echo written`;
  const running = plain.preview(command);
  let writtenAt;
  for await (const _ of running) writtenAt = performance.now();
  const { previewId } = await running;
  const scanMs = performance.now() - writtenAt;
  const began = performance.now();
  const { created } = plain.previews.show(previewId);
  const listMs = performance.now() - began;
  table(
    `${created.length} changes, ms`,
    ["step", "time"],
    [
      ["from the end of the command to its result", scanMs],
      ["listing the changes", listMs],
    ],
  );
  target(`time to list ${CHANGES} changes`, listMs, { atMost: 200 }, " ms");
}

async function measureCap() {
  const overshootMs = [];
  for (let i = 0; i < CAPS; i++) {
    const command =
      "head -c 20500000 /dev/zero >big; date +%s%N; while :; do head -c 1000000 /dev/zero >>more; done";
    const { stdout } = await capped.preview(command);
    overshootMs.push(performance.timeOrigin + performance.now() - Number(stdout.trim()) / 1e6);
  }
  table("From a write past the cap to the result, ms", ["median / p95"], [[spread(overshootMs)]]);
  target(
    "time from a write past the cap to the result (worst)",
    Math.max(...overshootMs),
    { atMost: 500 },
    " ms",
  );
}
