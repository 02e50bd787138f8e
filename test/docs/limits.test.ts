// The limits in docs/ and in the comments of options match the code.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as limits from "../../src/support/limits.ts";
import { root } from "./pages.ts";

const GIB = 1024 ** 3;
const STATED: Readonly<Record<string, string>> = {
  capBytes: `${limits.STREAM_CAP_BYTES / GIB} GiB`,
  maxLiveShells: String(limits.LIVE_SHELLS_PER_SCOPE_MAX_COUNT),
  maxSessions: String(limits.SESSIONS_MAX_COUNT),
  quotaBytes: `${limits.SPOOL_QUOTA_BYTES / GIB} GiB`,
  finishedMaxAgeSeconds: String(limits.FINISHED_MAX_AGE_SECONDS),
  killGraceMs: String(limits.KILL_GRACE_MS),
};

test("the table of limits in docs/shells.md states the defaults of the code", () => {
  const rows = [...textOf("docs/shells.md").matchAll(/^\| `(\w+)` +\| ([^|]+?) +\|/gm)];
  const stated = rows.filter(([, name = ""]) => name in STATED);
  expect(stated.map(([, name]) => name)).toContain("killGraceMs");
  for (const [, name = "", value = ""] of stated)
    expect([name, value.replaceAll(",", "")]).toEqual([name, STATED[name]]);
});

test("the comments of the manager's options state the defaults of the code", () => {
  const options = textOf("src/shell/manager-options.ts").matchAll(
    /@default (.+?)\s+\*\/\n {2}readonly (\w+)/g,
  );
  const stated = [...options].filter(([, , name = ""]) => name in STATED);
  expect(stated).toHaveLength(Object.keys(STATED).length);
  for (const [, value, name = ""] of stated) expect([name, value]).toEqual([name, STATED[name]]);
});

test("docs/shells.md states how long a kill can take after its grace period", () => {
  const seconds = (limits.KILL_MAX_MS + limits.KILL_VERIFY_MAX_MS) / 1_000;
  expect(textOf("docs/shells.md")).toContain(`its grace period plus ${seconds} seconds`);
});

function textOf(page: string): string {
  return readFileSync(join(root, page), "utf8");
}
