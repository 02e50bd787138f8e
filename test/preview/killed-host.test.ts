// If a host is killed during a commit or an undo, the next host finds either the state before or the state
// after, never a mixture. The record of the preview agrees with that state.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { useFileTools } from "../fixtures/file-tools.ts";
import { isLong } from "../fixtures/long.ts";
import { plantTree, randomFrom } from "../fixtures/random-scripts.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { snapshotOf } from "../fixtures/trees.ts";

const world = useFileTools({ with: ["preview"], policy: "off" });
const { kit, work } = world;

const ROUNDS_COUNT = isLong ? 50 : 3;
const HOST = fileURLToPath(new URL("../fixtures/bin/preview-host.mjs", import.meta.url));
const NACRE = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

const SCRIPT = `
rm -rf d1 'with space'; mkdir d1; echo new >d1/f3
for i in {1..60}; do mkdir -p new/$i; echo $i >new/$i/f; echo $i >top$i; done
echo x >>f1; echo x >>h1; chmod 700 d4; rm f2; mv d4/f6 moved; ln -sfn f1 to-dir; cp -aT marked-dir empty
`;

/** Returns how long the host took, in ms, or undefined if it was killed before it finished. */
async function runHost(
  action: "commit" | "undo",
  id: string,
  killAfterMs?: number,
): Promise<number | undefined> {
  const stateRoot = `${work()}/../state`;
  const child = spawn(process.execPath, [HOST, work(), stateRoot, action, id], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  while (!output.includes("ready") && child.exitCode === null && child.signalCode === null)
    await Promise.race([once(child.stdout, "data"), closed]);
  expect(output, "what the host printed before its work").toContain("ready");
  const started = performance.now();
  child.stdin.write("go\n");
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  const [, signal] = await closed;
  clearTimeout(timer);
  if (output.includes("done")) return performance.now() - started;
  expect([killAfterMs !== undefined, signal], "a host without a result was killed").toEqual([
    true,
    "SIGKILL",
  ]);
  return undefined;
}

/** Starts another host, which completes or undoes what the killed host began. */
async function recover(isCli: boolean): Promise<void> {
  if (isCli) {
    const env = { ...process.env, NACRE_HOME: `${work()}/../state` };
    const { status, stderr } = spawnSync(process.execPath, [NACRE, "run", "true"], { env, encoding: "utf8" });
    expect(status, stderr).toBe(0);
  } else await (await world.open()).dispose();
}

describeSandboxed("a host that is killed", () => {
  test("leaves every commit and undo either completed or not begun", {
    timeout: isLong ? 1_800_000 : 120_000,
  }, async ({ annotate }) => {
    plantTree(work());
    const before = snapshotOf(work());
    const { previewId: first } = await kit().preview(SCRIPT);
    const commitMs = (await runHost("commit", first)) ?? 0;
    const after = snapshotOf(work(), { withoutTimes: true });
    const undoMs = (await runHost("undo", first)) ?? 0;
    expect(snapshotOf(work())).toEqual(before);
    const random = randomFrom(7);
    const ends = { commit: { done: 0, undone: 0 }, undo: { done: 0, undone: 0 } };
    for (let round = 0; round < ROUNDS_COUNT; round++) {
      const { previewId: id } = await kit().preview(SCRIPT);
      await runHost("commit", id, random(Math.ceil(commitMs)));
      await recover(round % 2 === 0);
      const isCommitted = kit().previews.show(id).status === "committed";
      ends.commit[isCommitted ? "done" : "undone"]++;
      if (isCommitted) expect(snapshotOf(work(), { withoutTimes: true }), `commit ${round}`).toEqual(after);
      else {
        expect(snapshotOf(work()), `commit ${round}`).toEqual(before);
        await kit().previews.commit(id);
      }
      await runHost("undo", id, random(Math.ceil(undoMs)));
      await recover(round % 2 === 1);
      const isUndone = kit().previews.show(id).status === "undone";
      ends.undo[isUndone ? "done" : "undone"]++;
      if (!isUndone) {
        expect(snapshotOf(work(), { withoutTimes: true }), `undo ${round}`).toEqual(after);
        await kit().previews.undo(id);
      }
      expect(snapshotOf(work()), `undo ${round}`).toEqual(before);
    }
    await annotate(JSON.stringify(ends));
    console.info(JSON.stringify(ends));
  });
});
