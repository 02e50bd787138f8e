// An evaluation harness: runs every task in a fresh sandbox, several at once, and prints which ones passed.
//   node examples/evaluate.mjs                  in directories of this machine, to try it
//   node examples/evaluate.mjs docker IMAGE     in containers; IMAGE needs sh, bash, tar and gzip
// Replace the function `solve` with your agent. `kit` is the toolkit of one sandbox.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFleet, docker, NacreError } from "nacre";

const AT_ONCE = 3;
const ATTEMPTS = 2;
const TASK_MAX_MS = 60_000;

const TASKS = [
  {
    name: "sort",
    setup: "printf '%s\\n' pear apple fig >fruit.txt",
    solve: "sort -o fruit.txt fruit.txt",
    check: '[ "$(head -n 1 fruit.txt)" = apple ]',
  },
  {
    name: "count",
    setup: "seq 100 >numbers.txt",
    solve: "wc -l <numbers.txt >count.txt",
    check: "grep -qx ' *100' count.txt",
  },
  { name: "unsolved", setup: "true", solve: "true", check: "[ -e answer.txt ]" },
];

/** Any object with these methods is an engine. This engine only makes directories, without any isolation. */
function directories() {
  return {
    name: "directories",
    lease: async () => {
      const id = mkdtempSync(join(tmpdir(), "evaluate-"));
      return { id, url: `command:${JSON.stringify(["env", "-C", id])}` };
    },
    list: async () => [],
    release: async (id) => rmSync(id, { recursive: true, force: true }),
  };
}

async function solve(kit, task) {
  return await kit.run(task.solve, { session: "agent", timeoutMs: TASK_MAX_MS });
}

/** A failed task is a result. If a sandbox does not start or is lost, the task runs again in another sandbox. */
async function evaluate(fleet, task) {
  for (let attempt = 1; ; attempt++) {
    let lease;
    try {
      lease = await fleet.lease({ policy: "off" });
      await lease.kit.run(task.setup, { session: "agent" });
      const solved = await solve(lease.kit, task);
      const { ok } = await lease.kit.run(task.check, { session: "agent" });
      return {
        name: task.name,
        passed: ok,
        note: solved.timedOut ? "timed out" : `exit code ${solved.exitCode}`,
      };
    } catch (error) {
      if (!(error instanceof NacreError)) throw error;
      if (attempt === ATTEMPTS) return { name: task.name, passed: false, note: `not run: ${error.message}` };
    } finally {
      await lease?.release();
    }
  }
}

const [engine = "directories", image] = process.argv.slice(2);
if (engine === "docker" ? image === undefined : engine !== "directories") {
  console.error("usage: node evaluate.mjs [docker IMAGE]");
  process.exit(2);
}
const fleet = createFleet({
  engine: engine === "docker" ? docker({ image, args: ["--network", "none"] }) : directories(),
  deadlineSeconds: 600,
});
try {
  const waiting = [...TASKS.entries()];
  const results = [];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      results[next[0]] = await evaluate(fleet, next[1]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  for (const { name, passed, note } of results) console.log(`${passed ? "pass" : "FAIL"} ${name} (${note})`);
  console.log(`${results.filter(({ passed }) => passed).length} of ${results.length} tasks passed`);
  if (results.some(({ note }) => note.startsWith("not run"))) process.exitCode = 1;
} finally {
  await fleet.dispose();
}
