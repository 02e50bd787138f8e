// Placeholders are removed with the last shell that needs them, even if shells end at the same time.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { type Placeholder, type PlaceholderHolder, Placeholders } from "../../src/sandbox/placeholders.ts";
import { useCli } from "../cli/run-nacre.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";

const base = mkdtempSync(join(tmpdir(), "nacre-test-"));
const { nacre } = useCli();
const self: PlaceholderHolder = { pid: process.pid, startTime: "1" };
const [first, second]: [PlaceholderHolder, PlaceholderHolder] = [
  { pid: 11, startTime: "1" },
  { pid: 12, startTime: "1" },
];
const places: Placeholder[] = [
  { path: join(base, "work/deep"), kind: "directory" },
  { path: join(base, "work/deep/er"), kind: "file" },
];

beforeEach(() => {
  rmSync(base, { recursive: true, force: true });
  mkdirSync(join(base, "work"), { recursive: true });
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

const kept = (isAlive: (holder: PlaceholderHolder) => boolean) =>
  new Placeholders(join(base, "kept"), { self, isAlive });

test("placeholders stay until their last holder ends", () => {
  const placeholders = kept(() => true);
  for (const holder of [first, second]) placeholders.hold(holder, () => ({ placeholders: places }));
  placeholders.release(first);
  expect(existsSync(join(base, "work/deep/er"))).toBe(true);
  placeholders.release(second);
  expect(readdirSync(join(base, "work"))).toEqual([]);
  expect(readdirSync(join(base, "kept"))).toEqual([]);
});

test("no directory remains if one holder dies while another holder's placeholders are removed", () => {
  let answers = 0;
  const placeholders = kept(() => ++answers === 1);
  for (const holder of [first, second]) placeholders.hold(holder, () => ({ placeholders: places }));
  placeholders.release(first);
  placeholders.release(second);
  expect(readdirSync(join(base, "work"))).toEqual([]);
});

test("placeholders of another process count as missing, and are removed after a crash", () => {
  kept(() => true).hold(first, () => ({ placeholders: places }));
  const later = kept(() => false);
  expect(places.map(({ path }) => later.held()(path))).toEqual([true, true]);
  later.tidy();
  expect(readdirSync(join(base, "work"))).toEqual([]);
});

test("the lock of a dead process is taken over", () => {
  symlinkSync("13-1", join(base, "kept.lock"));
  kept(() => false).hold(first, () => ({ placeholders: places }));
  expect(existsSync(join(base, "work/deep/er"))).toBe(true);
  expect(readdirSync(base).sort()).toEqual(["kept", "work"]);
});

describeSandboxed("in a sandbox", () => {
  test("concurrent processes do not remove each other's placeholders", async () => {
    const words = [
      "run",
      "--policy",
      "off",
      "--sandbox",
      "workspace-write",
      "--hide",
      ".env",
      "--hide",
      "a/b",
    ];
    const outputs: string[] = [];
    for (let round = 0; round < 3; round++) {
      const runs = [1, 2, 3].map(() => nacre(...words, "echo ran; echo x >.env"));
      for (const { stdout, stderr } of await Promise.all(runs)) outputs.push(stdout + stderr);
    }
    expect(
      outputs.filter((output) => !(output.startsWith("ran\n") && output.includes("Permission denied"))),
    ).toEqual([]);
  });
});
