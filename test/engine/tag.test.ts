import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keeperPrefixOf, reachOf, SHELL_NUMBERS, TagSpace } from "../../src/engine/tag.ts";

function space(own: string, random = 0): TagSpace {
  const found = TagSpace.within(own, random);
  if (!found) throw new Error(`no room below ${own}`);
  return found;
}

/** The random value from which a space derives the n-th of `hosts` host numbers. */
const draw = (n: number, hosts: number) => (n + 0.5) / hosts;

describe("the bit layout", () => {
  test("of the first level is: marker, host number, shell number, and one-bits below them", () => {
    const first = space("unlimited", draw(5, 1023));
    expect(first.hostShift).toBe(52);
    expect(first.shellTag(9)).toBe((1n << 62n) | (5n << 52n) | (9n << 38n) | ((1n << 38n) - 1n));
    expect(first.keeperTag).toBe((1n << 62n) | (5n << 52n) | ((1n << 52n) - 1n));
  });

  test("of the second and third level keeps the higher bits unchanged", () => {
    const outer = space("unlimited", draw(5, 1023)).shellTag(9);
    const second = space(String(outer), draw(3, 63));
    expect(second.hostShift).toBe(32);
    expect(second.shellTag(7)).toBe(((outer >> 38n) << 38n) | (3n << 32n) | (7n << 18n) | ((1n << 18n) - 1n));
    const third = space(String(second.shellTag(7)), draw(2, 15));
    expect(third.hostShift).toBe(14);
    expect(third.shellTag(1)).toBe(((second.shellTag(7) >> 18n) << 18n) | (2n << 14n) | 1n);
  });

  test("fits a limit: every tag is below 2^63, and an inner tag is lower than the inherited one", () => {
    let own = "unlimited";
    let above = 1n << 63n;
    for (let level = 0; level < 3; level++) {
      const here = space(own, 0.999_999);
      for (const tag of [here.keeperTag, here.shellTag(0), here.shellTag(SHELL_NUMBERS - 1)]) {
        expect(tag < above).toBe(true);
      }
      above = here.shellTag(SHELL_NUMBERS - 1);
      own = String(above);
    }
  });
});

describe("nesting", () => {
  test("a fourth level does not fit", () => {
    const second = space(String(space("unlimited").shellTag(1)));
    const third = space(String(second.shellTag(1)));
    expect(TagSpace.within(String(third.shellTag(1)), 0)).toBeUndefined();
  });

  test("a process of an inner shell also belongs to the outer shell", () => {
    const outer = space("unlimited", draw(5, 1023));
    const inner = space(String(outer.shellTag(42)), draw(6, 63));
    const innermost = space(String(inner.shellTag(43)), draw(7, 15));
    const tag = innermost.shellTag(44);
    expect([outer, inner, innermost].map((one) => one.shellNumber(tag))).toEqual([42, 43, 44]);
    expect(outer.shellNumber(inner.keeperTag)).toBe(42);
    expect(inner.shellNumber(innermost.keeperTag)).toBe(43);
  });
});

test.each([
  "0",
  "1",
  "1000",
  "4611686018427387903",
  "9223372036854775808",
  "18446744073709551615",
  "",
  "no",
  "-1",
])("a limit of %j is not a tag, and no tag fits below it", (own) => {
  expect(TagSpace.within(own, 0)).toBeUndefined();
});

test("a keeper's tag is never the tag of a shell, whatever the host's number", () => {
  for (const random of [0, 0.3, 0.999_999, 1]) {
    const one = space("unlimited", random);
    expect(one.shellNumber(one.keeperTag)).toBeUndefined();
    expect(one.keeperTag).not.toBe(one.shellTag(SHELL_NUMBERS - 1));
  }
});

const owns = fc.oneof(
  fc.constant("unlimited"),
  fc.nat({ max: SHELL_NUMBERS - 1 }).map((n) => String(space("unlimited", 0.5).shellTag(n))),
  fc
    .nat({ max: SHELL_NUMBERS - 1 })
    .map((n) => String(space(String(space("unlimited", 0.5).shellTag(3)), 0.2).shellTag(n))),
);
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const number = fc.nat({ max: SHELL_NUMBERS - 1 });

test("every number can be read from its tag, at every level of nesting", () => {
  fc.assert(
    fc.property(owns, random, number, (own, drawn, n) => {
      const one = space(own, drawn);
      expect(one.shellNumber(one.shellTag(n))).toBe(n);
    }),
  );
});

test("no tag of one host belongs to another host", () => {
  fc.assert(
    fc.property(owns, random, random, number, (own, a, b, n) => {
      const [one, other] = [space(own, a), space(own, b)];
      fc.pre(one.keeperTag !== other.keeperTag);
      expect(one.shellNumber(other.shellTag(n))).toBeUndefined();
      expect(one.shellNumber(other.keeperTag)).toBeUndefined();
    }),
  );
});

test("the limit of an unrelated process is not the tag of a shell", () => {
  fc.assert(
    fc.property(owns, random, fc.bigInt({ min: 0n, max: (1n << 62n) - 1n }), (own, drawn, limit) => {
      expect(space(own, drawn).shellNumber(limit)).toBeUndefined();
    }),
  );
});

test("a tag identifies the keeper of the host that assigned it, and no other keeper", () => {
  fc.assert(
    fc.property(owns, random, random, number, (own, a, b, n) => {
      const [one, other] = [space(own, a), space(own, b)];
      const tag = one.shellTag(n);
      const { shift } = reachOf(tag);
      expect(one.keeperTag >> shift).toBe(keeperPrefixOf(tag));
      fc.pre(one.keeperTag !== other.keeperTag);
      expect(other.keeperTag >> shift).not.toBe(keeperPrefixOf(tag));
    }),
  );
});
