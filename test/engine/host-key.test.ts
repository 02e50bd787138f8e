import { spawn } from "node:child_process";
import { once } from "node:events";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type HostKey, isForeign, keyAt, keyWithin } from "../../src/engine/host-key.ts";
import { tagLimits } from "../../src/engine/process-table.ts";
import { TagSpace } from "../../src/engine/tag.ts";
import { BASH } from "../fixtures/keepers.ts";

function within(own: string, level: number, random: number): HostKey {
  const key = keyWithin(own, level, random);
  if (!key) throw new Error(`no room below ${own}`);
  return key;
}

const limitOf = ({ kib }: HostKey) => String(kib * 1024n);

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("a key", () => {
  test("is not higher than the key of the enclosing host, at every level of nesting", () => {
    fc.assert(
      fc.property(random, random, random, (a, b, c) => {
        const first = within("unlimited", 0, a);
        const second = within(limitOf(first), 1, b);
        const third = within(limitOf(second), 2, c);
        expect(second.kib <= first.kib && third.kib <= second.kib).toBe(true);
        expect(first.kib < 1n << 52n).toBe(true);
      }),
    );
  });

  test("belongs only to its host and to the enclosing hosts", () => {
    fc.assert(
      fc.property(random, random, random, (a, b, c) => {
        const [outer, other] = [within("unlimited", 0, a), within("unlimited", 0, b)];
        const inner = within(limitOf(outer), 1, c);
        expect([isForeign(limitOf(inner), outer), isForeign(limitOf(outer), outer)]).toEqual([false, false]);
        fc.pre(outer.kib !== other.kib);
        expect([isForeign(limitOf(inner), other), isForeign(limitOf(other), inner)]).toEqual([true, true]);
      }),
    );
  });

  test.each(["unlimited", "4096", "0", "", "no", "4611686018427387903"])(
    "is not contained in a limit of %j: a process with this limit is found by its tag alone",
    (limit) => {
      expect(isForeign(limit, within("unlimited", 0, 0.5))).toBe(false);
    },
  );

  test.each(["4096", "0", "", "no", "4611686018427387903"])(
    "does not fit below a memory limit of %j",
    (own) => {
      expect(keyWithin(own, 0, 0.5)).toBeUndefined();
    },
  );

  test("is read back from an identity", () => {
    const key = within("unlimited", 1, 0.3);
    expect(keyAt(key.kib, 1)).toEqual(key);
    expect(keyAt(key.kib, 3)).toBeUndefined();
  });
});

test("a process shows the tag and the key that bash has set", async () => {
  const space = TagSpace.within("unlimited", 0.2)?.withKey("unlimited", 0.7);
  if (!space?.key) throw new Error("no room for a key");
  const child = spawn(BASH, [
    "-c",
    `ulimit -x ${space.shellTag(7)}; ulimit -m ${space.key.kib}; echo up; read -r`,
  ]);
  await once(child.stdout, "data");
  const limits = tagLimits(child.pid ?? 0);
  child.stdin.end("\n");
  expect(limits).toMatchObject({ tag: String(space.shellTag(7)), key: limitOf(space.key) });
  expect(limits && space.numberOf(limits)).toBe(7);
  const other = TagSpace.within("unlimited", 0.2)?.withKey("unlimited", 0.8);
  expect(limits && other?.numberOf(limits)).toBeUndefined();
});
