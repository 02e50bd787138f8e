import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir, uptime } from "node:os";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { presenceOf } from "../../src/engine/attach.ts";
import { preallocateEndRecord } from "../../src/engine/end-record.ts";
import { writeMeta } from "../../src/engine/meta.ts";
import { bootId, pidNamespace } from "../../src/engine/process-table.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { chooseToSweep, type Presence, removeShell, type SweepEntry, sweep } from "../../src/engine/sweep.ts";
import { metaOf } from "../fixtures/metas.ts";
import { useShells } from "../fixtures/shells.ts";

const { directory, manager, run } = useShells();
const entry = (id: string, endedAt: number, bytes: number, finished = true): SweepEntry => ({
  id,
  endedAt,
  bytes,
  finished,
});

describe("the choice of shells to remove", () => {
  const all = [
    entry("old", 10, 100),
    entry("running", 1, 500, false),
    entry("new", 90, 100),
    entry("mid", 50, 100),
  ];

  test.each([
    ["nothing while all shells are young and within the quota", 1_000, 10_000, []],
    ["by age, the oldest first", 45, 10_000, ["old", "mid"]],
    ["no shell that is exactly as old as allowed", 90, 10_000, []],
    ["by quota, the oldest until the rest fits", 1_000, 700, ["old"]],
    ["by quota, all finished shells if the running ones exceed it", 1_000, 0, ["old", "mid", "new"]],
    ["by age and quota", 60, 600, ["old", "mid"]],
  ])("is %s", (_, maxAgeMs, quotaBytes, ids) => {
    expect(chooseToSweep(all, { nowMs: 100, maxAgeMs, quotaBytes })).toEqual(ids);
  });

  test("includes every old shell, but no running shell and no young shell that fits into the quota", () => {
    const entries = fc.uniqueArray(
      fc.record({
        id: fc.string({ minLength: 1 }),
        endedAt: fc.nat({ max: 100 }),
        bytes: fc.nat({ max: 100 }),
        finished: fc.boolean(),
      }),
      { selector: ({ id }) => id, maxLength: 12 },
    );
    fc.assert(
      fc.property(entries, fc.nat({ max: 100 }), fc.nat({ max: 600 }), (list, maxAgeMs, quotaBytes) => {
        const chosen = new Set(chooseToSweep(list, { nowMs: 100, maxAgeMs, quotaBytes }));
        const kept = list.filter(({ id }) => !chosen.has(id));
        const isOld = ({ endedAt }: SweepEntry) => 100 - endedAt > maxAgeMs;
        const size = (some: readonly SweepEntry[]) => some.reduce((sum, { bytes }) => sum + bytes, 0);
        const gone = list.filter(({ id }) => chosen.has(id));
        expect(gone.every(({ finished }) => finished)).toBe(true);
        expect(kept.some((one) => one.finished && isOld(one))).toBe(false);
        // The remaining shells fit into the quota, or none of them is finished.
        expect(size(kept) <= quotaBytes || kept.every(({ finished }) => !finished)).toBe(true);
        // Keeping the newest removed young shell would have exceeded the quota.
        const last = gone
          .filter((one) => !isOld(one))
          .sort((a, b) => a.endedAt - b.endedAt)
          .at(-1);
        if (last) expect(size(kept) + last.bytes).toBeGreaterThan(quotaBytes);
      }),
      { numRuns: 500 },
    );
  });
});

describe("sweeping directories", () => {
  const HOUR = 3_600_000;
  const allGone = (): Presence => "gone";
  const limits = { nowMs: Date.now(), maxAgeMs: HOUR, quotaBytes: Number.MAX_SAFE_INTEGER };

  function spool(): StateRoot {
    const root = new StateRoot(directory());
    root.ensure();
    return root;
  }

  function planted(
    root: StateRoot,
    id: string,
    {
      ageMs,
      record,
      identity,
      meta = true,
    }: { ageMs: number; record?: string; identity?: string; meta?: boolean },
  ): string {
    const files = root.files(id);
    mkdirSync(files.dir);
    if (record === undefined) preallocateEndRecord(files.record);
    else writeFileSync(files.record, record);
    if (identity) writeFileSync(files.identity, identity);
    if (meta) writeMeta(files.meta, { ...META, id });
    const at = new Date(limits.nowMs - ageMs);
    for (const path of [files.record, files.identity, files.meta, files.dir]) {
      if (existsSync(path)) utimesSync(path, at, at);
    }
    return id;
  }

  const META = metaOf();
  const ENDED = `X ${"0 - 0 0 1.00".padEnd(124)}.\n${"-".padEnd(126)}.\n`;
  const IDENTITY = "12 34 13 35 - boot 1\n";

  test("removes old finished shells and keeps young and running shells", async () => {
    const root = spool();
    const old = planted(root, "shell_00000001", { ageMs: 2 * HOUR, record: ENDED, identity: IDENTITY });
    const young = planted(root, "shell_00000002", { ageMs: HOUR / 2, record: ENDED, identity: IDENTITY });
    const running = planted(root, "shell_00000003", { ageMs: 9 * HOUR, identity: "77 34 78 35 - boot 1\n" });
    expect(await sweep(root, limits, ({ shimPid }) => (shimPid === 77 ? "alive" : "gone"))).toEqual([old]);
    expect(root.list().sort()).toEqual([young, running]);
  });

  test("treats a shell that is gone without a record like a finished shell", async () => {
    const root = spool();
    const lost = planted(root, "shell_00000001", { ageMs: 2 * HOUR, identity: IDENTITY });
    const corrupt = planted(root, "shell_00000002", { ageMs: 2 * HOUR, identity: IDENTITY, record: "?" });
    expect((await sweep(root, limits, allGone)).sort()).toEqual([lost, corrupt]);
  });

  test("keeps a shell that may run in another namespace, but only for a few days", async () => {
    const root = spool();
    const maybe = planted(root, "shell_00000001", { ageMs: 6 * 24 * HOUR, identity: IDENTITY });
    const ended = planted(root, "shell_00000002", { ageMs: 2 * HOUR, identity: IDENTITY, record: ENDED });
    const forgotten = planted(root, "shell_00000003", { ageMs: 8 * 24 * HOUR, identity: IDENTITY });
    expect((await sweep(root, limits, () => "unknown")).sort()).toEqual([ended, forgotten]);
    expect(root.list()).toEqual([maybe]);
  });

  test("a shell of another PID namespace may be alive; a shell of another boot is gone", () => {
    const here = { shimPid: 1, shimStart: "0", commandPid: 2, commandStart: "0", tag: "-" };
    expect(presenceOf({ ...here, bootId: bootId(), pidNamespace: "1" })).toBe("unknown");
    expect(presenceOf({ ...here, bootId: "other", pidNamespace: pidNamespace() })).toBe("gone");
    expect(presenceOf({ ...here, bootId: bootId(), pidNamespace: pidNamespace() })).toBe("gone");
  });

  test("removes a slot without a process at once, and keeps a slot that may be starting", async () => {
    const root = spool();
    const dead = planted(root, "shell_00000001", { ageMs: 1_000, identity: IDENTITY, meta: false });
    const starting = planted(root, "shell_00000002", { ageMs: 1_000, meta: false });
    const neverStarted = planted(root, "shell_00000003", { ageMs: 120_000, meta: false });
    expect((await sweep(root, limits, allGone)).sort()).toEqual([dead, neverStarted]);
    expect(root.list()).toEqual([starting]);
  });

  describe("after the clock was set", () => {
    const boot = { bootId: "boot", uptimeMs: 10 * HOUR };
    const ended = (uptimeMs: number) =>
      `X ${`0 - 0 0 ${(uptimeMs / 1000).toFixed(2)}`.padEnd(124)}.\n${"-".padEnd(126)}.\n`;

    test("keeps a shell that ended seconds ago although its files look hours old", async () => {
      const root = spool();
      const record = ended(boot.uptimeMs - 5_000);
      planted(root, "shell_00000001", { ageMs: 30 * HOUR, record, identity: IDENTITY });
      expect(await sweep(root, limits, allGone, boot)).toEqual([]);
    });

    test("removes a shell that ended hours ago although its files look new or are dated in the future", async () => {
      const root = spool();
      const record = ended(boot.uptimeMs - 2 * HOUR);
      const ids = [0, -5 * HOUR].map((ageMs, index) =>
        planted(root, `shell_0000000${index}`, { ageMs, record, identity: IDENTITY }),
      );
      expect((await sweep(root, limits, allGone, boot)).sort()).toEqual(ids);
    });

    test("removes shells of an earlier boot only after the current boot is older than the limit", async () => {
      const root = spool();
      const identity = "12 34 13 35 - earlier 1\n";
      const id = planted(root, "shell_00000001", { ageMs: -HOUR, record: ended(9_000), identity });
      expect(await sweep(root, limits, allGone, { ...boot, uptimeMs: HOUR / 2 })).toEqual([]);
      expect(await sweep(root, limits, allGone, { ...boot, uptimeMs: HOUR + 1 })).toEqual([id]);
    });

    test("keeps a lost shell that changed a minute ago by the clock at its start, but not forever", async () => {
      const root = spool();
      // The shell started 9 hours ago. The clock was 20 hours behind then. By that clock, its last change is
      // a minute old.
      const startedUptimeMs = boot.uptimeMs - 9 * HOUR;
      const id = planted(root, "shell_00000001", { ageMs: 20 * HOUR + 60_000, identity: IDENTITY });
      const createdAt = limits.nowMs - 29 * HOUR;
      writeMeta(root.files(id).meta, metaOf({ id, createdAt, startedUptimeMs }));
      utimesSync(root.files(id).meta, new Date(createdAt), new Date(createdAt));
      expect(await sweep(root, limits, allGone, boot)).toEqual([]);
      expect(await sweep(root, limits, allGone, { ...boot, uptimeMs: boot.uptimeMs + 11 * HOUR })).toEqual([
        id,
      ]);
    });

    test("meets the quota by removing the shells that ended first", async () => {
      const root = spool();
      const first = planted(root, "shell_00000001", {
        ageMs: -HOUR,
        record: ended(boot.uptimeMs - 60_000),
        identity: IDENTITY,
      });
      planted(root, "shell_00000002", {
        ageMs: HOUR,
        record: ended(boot.uptimeMs - 1_000),
        identity: IDENTITY,
      });
      const all = await sweep(root, { ...limits, quotaBytes: 0 }, allGone, boot);
      expect(all[0]).toBe(first);
    });
  });

  test("a sweep whose clock is two hours ahead does not remove a shell that has just ended", async () => {
    const shells = manager();
    const shell = await run(shells, "echo kept");
    const ahead = { ...limits, nowMs: Date.now() + 2 * HOUR };
    const boot = { bootId: bootId(), uptimeMs: uptime() * 1000 };
    expect(await sweep(shells.root, ahead, presenceOf, boot)).not.toContain(shell.id);
    expect(shell.getAllOutput()).toBe("kept\n");
    expect(shell.endedAgoMs).toBeLessThan(HOUR);
  });

  test("skips entries that are not shell directories", async () => {
    const root = spool();
    writeFileSync(`${root.shellsDir}/note`, "");
    expect(await sweep(root, limits, allGone)).toEqual([]);
  });

  test("never removes a running shell or a waiting slot, however tight the limits", async () => {
    const shells = manager();
    const ended = await run(shells, "echo done");
    const running = await shells.createShell({ command: "echo up; sleep 300", workingDir: tmpdir() });
    await running.waitFor({ pattern: /up/ }, 10_000);
    const tight = { nowMs: Date.now() + 50_000, maxAgeMs: 0, quotaBytes: 0 };
    const swept = await sweep(shells.root, tight, presenceOf);
    expect(swept).toContain(ended.id);
    expect(swept).not.toContain(running.id);
    expect(running.getAllOutput()).toBe("up\n");
    expect((await run(shells, "echo next")).getAllOutput()).toBe("next\n");
  });

  test("removing a missing shell is not an error", () => {
    expect(() => removeShell(spool(), "shell_0badcafe")).not.toThrow();
  });
});
