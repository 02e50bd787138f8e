import { closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readMeta, type ShellMeta, writeMeta } from "../../src/engine/meta.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();
const sample: ShellMeta = {
  version: 1,
  id: "shell_0badcafe",
  workingDir: "/tmp/a b",
  scope: "default",
  session: null,
  createdAt: 1_700_000_000_000,
  startedUptimeMs: 12,
  deadlineMs: null,
  durable: false,
  host: { pid: 1, startTime: "0" },
  streams: "split",
  capBytes: 1024,
};

describe("meta", () => {
  test("is read back unchanged", () => {
    const path = join(directory(), "meta");
    fc.assert(
      fc.property(
        fc.record({
          workingDir: fc.string({ unit: "grapheme" }),
          scope: fc.string({ unit: "binary" }),
          session: fc.option(fc.string()),
          deadlineMs: fc.option(fc.nat()),
          durable: fc.boolean(),
          streams: fc.constantFrom("split" as const, "merged" as const),
        }),
        (some) => {
          const meta = { ...sample, ...some };
          writeMeta(path, meta);
          expect(readMeta(path)).toEqual(meta);
        },
      ),
      { numRuns: 20 },
    );
  });

  test.each([true, false])("is private and leaves no other file behind (durable: %s)", (durable) => {
    const dir = directory();
    writeMeta(join(dir, "meta"), { ...sample, durable });
    expect(readdirSync(dir)).toEqual(["meta"]);
    expect(statSync(join(dir, "meta")).mode & 0o777).toBe(0o600);
  });

  test("is replaced atomically: a reader that has the old file open still reads all of it", () => {
    const path = join(directory(), "meta");
    writeMeta(path, sample);
    const old = readFileSync(path, "utf8");
    const fd = openSync(path, "r");
    writeMeta(path, { ...sample, scope: "other" });
    expect(readFileSync(fd, "utf8")).toBe(old);
    closeSync(fd);
    expect(readMeta(path)?.scope).toBe("other");
  });

  test("of an earlier build with the field isSessionBash gets the role session", () => {
    const path = join(directory(), "meta");
    writeFileSync(path, JSON.stringify({ ...sample, isSessionBash: true }));
    expect(readMeta(path)?.role).toBe("session");
  });

  test("that was never completed is not read", () => {
    const dir = directory();
    writeFileSync(join(dir, "meta.new"), JSON.stringify(sample));
    expect(readMeta(join(dir, "meta"))).toBeUndefined();
  });

  test.each(Object.keys(sample))("without %s is not trusted", (name) => {
    const path = join(directory(), "meta");
    writeFileSync(path, JSON.stringify({ ...sample, [name]: undefined }));
    expect(readMeta(path)).toBeUndefined();
  });

  test.each([
    ["empty", ""],
    ["cut short", JSON.stringify(sample).slice(0, -5)],
    ["null", "null"],
    ["a list", "[]"],
    ["text", '"meta"'],
    ["binary", "\0\xff"],
    ["of a later version", JSON.stringify({ ...sample, version: 2 })],
    ["with a cap that is text", JSON.stringify({ ...sample, capBytes: "1024" })],
    ["with unknown streams", JSON.stringify({ ...sample, streams: "both" })],
  ])("that is %s is not trusted", (_, text) => {
    const path = join(directory(), "meta");
    writeFileSync(path, text);
    expect(readMeta(path)).toBeUndefined();
  });
});
