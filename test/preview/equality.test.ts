// For random scripts, a commit has the same result as running the script, and an undo restores the state
// from before the commit.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useFileTools } from "../fixtures/file-tools.ts";
import { isLong } from "../fixtures/long.ts";
import { plantTree, randomScript } from "../fixtures/random-scripts.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { snapshotOf } from "../fixtures/trees.ts";

const world = useFileTools({ with: ["preview"], policy: "off" });
const { kit, work } = world;

const SCRIPTS_COUNT = isLong ? 500 : 12;
const SCRIPTS_PER_TEST = isLong ? 50 : 6;
const FIRST_SEED = Number(process.env["NACRE_SEED"] ?? 1);

/** In a sandbox, root cannot keep the setgid bit of a file that it writes to (CAP_FSETID). */
const AS_IN_SANDBOX =
  process.getuid?.() === 0 ? ["setpriv", "--inh-caps=-fsetid", "--bounding-set=-fsetid"] : [];

function remove(directory: string): void {
  execFileSync("chmod", ["-R", "u+rwx", directory]);
  rmSync(directory, { recursive: true, force: true });
}

function runDirectly(script: string, directory: string): void {
  const [program = "", ...args] = [...AS_IN_SANDBOX, "bash", "-c", script];
  spawnSync(program, args, { cwd: directory, stdio: "ignore", timeout: 20_000 });
}

function nameIn(line: string): string {
  return line.split(" | ")[0] ?? "";
}

function namesIn(lines: readonly string[]): Set<string> {
  return new Set(lines.map(nameIn));
}

function isIn(lines: readonly string[]): (line: string) => boolean {
  const known = new Set(lines);
  return (line) => known.has(line);
}

async function compare(seed: number): Promise<void> {
  remove(work());
  mkdirSync(work());
  plantTree(work());
  const direct = join(world.outside(), "direct");
  execFileSync("cp", ["-a", work(), direct]);
  const script = randomScript(seed);
  const label = `seed ${seed}:\n${script}`;
  const before = snapshotOf(work());
  const directBefore = snapshotOf(direct, { withChangeTime: true });
  runDirectly(script, direct);
  const untouched = namesIn(directBefore.filter(isIn(snapshotOf(direct, { withChangeTime: true }))));
  const { previewId } = await kit().preview(script, { timeoutMs: 20_000 });
  expect(snapshotOf(work()), label).toEqual(before);
  await kit().previews.commit(previewId);
  const options = { withoutTimes: true };
  expect(snapshotOf(work(), options), label).toEqual(snapshotOf(direct, options));
  // An entry that the script did not touch has the same times and the same inode as before.
  const isUntouched = (line: string) => untouched.has(nameIn(line));
  expect(snapshotOf(work()).filter(isUntouched), label).toEqual(before.filter(isUntouched));
  await kit().previews.undo(previewId);
  expect(snapshotOf(work()), label).toEqual(before);
  remove(direct);
}

describeSandboxed("a commit equals running the script, and an undo restores the state before", () => {
  const parts = Array.from(
    { length: SCRIPTS_COUNT / SCRIPTS_PER_TEST },
    (_, part) => part * SCRIPTS_PER_TEST,
  );
  test.each(parts)("for random scripts with offset %i", { timeout: 600_000 }, async (offset) => {
    for (let seed = FIRST_SEED + offset; seed < FIRST_SEED + offset + SCRIPTS_PER_TEST; seed++)
      await compare(seed);
  });
});
