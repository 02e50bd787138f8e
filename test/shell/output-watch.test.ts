import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OutputWatch } from "../../src/shell/output-watch.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();

test("the first call returns at once, and the next call waits for a change", async () => {
  const dir = directory();
  const watch = new OutputWatch(dir);
  await watch.next(60_000);
  const changed = watch.next(60_000).then(() => "changed");
  writeFileSync(join(dir, "out"), "x");
  expect(await changed).toBe("changed");
  watch.close();
});

test("nudge() wakes the waiting call, or the next call if none is waiting", async () => {
  const watch = new OutputWatch(directory());
  await watch.next();
  const woken = watch.next(60_000).then(() => "woken");
  watch.nudge();
  expect(await woken).toBe("woken");
  watch.nudge();
  await watch.next(60_000);
  watch.close();
});

test("a directory that was removed or never existed is polled", async () => {
  const dir = directory();
  const missing = new OutputWatch(join(dir, "never"));
  await missing.next();
  await missing.next();
  missing.close();
  const watch = new OutputWatch(dir);
  rmSync(dir, { recursive: true });
  await watch.next();
  await watch.next();
  watch.close();
});
