// In a long session, every result is correct and nothing grows. NACRE_LONG=1 runs 10,000 commands.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isLong } from "../fixtures/long.ts";
import { helper } from "../fixtures/marked.ts";
import { useShells } from "../fixtures/shells.ts";

const { directory } = useShells();

const COMMANDS = isLong ? 10_000 : 300;
// The heap stops growing after a few hundred commands: after 2,400 commands, it is not larger than after 600.
const RSS_GROWTH_MAX_BYTES = 28 * 1024 ** 2;

test(`${COMMANDS} commands in one session: every result is correct, nothing grows`, {
  timeout: 3_600_000,
}, async () => {
  const dir = directory();
  const words = [helper("session-soak.mjs"), join(dir, "state"), dir, String(COMMANDS)];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  const { wrong, before, after, jobs, bashes } = JSON.parse(stdout);
  expect(wrong).toEqual([]);
  expect(jobs).toBe("");
  expect(after.files).toBeLessThanOrEqual(before.files);
  expect(after.rss - before.rss).toBeLessThanOrEqual(RSS_GROWTH_MAX_BYTES);
  console.log(
    `${COMMANDS} commands in one session: 0 wrong, fds ${before.files} to ${after.files}, ` +
      `RSS ${((after.rss - before.rss) / 1024 ** 2).toFixed(1)} MiB more`,
  );
  expect(bashes).toBeLessThanOrEqual(COMMANDS / 100 + 4);
});
