// The current holder of a tag if several hosts assign the same tag.
import { expect, test } from "vitest";
import type { StartedShell } from "../../src/engine/started-shell.ts";
import { TagSpace } from "../../src/engine/tag.ts";
import { TagHolders } from "../../src/engine/tag-holders.ts";

/** The first shell of a host with this key. All hosts here have the same number. */
function firstShell(id: string, key: number): StartedShell {
  const space = TagSpace.within("unlimited", 0.5)?.withKey("unlimited", key);
  return { id, tag: space?.shellTag(0), key: space?.key } as StartedShell;
}

test("a shell whose tag was assigned to a later shell cannot be found by its tag", () => {
  const holders = new TagHolders();
  const [ended, next] = [firstShell("ended", 0.1), firstShell("next", 0.1)];
  holders.take(ended);
  holders.take(next);
  expect(holders.findable([ended, next])).toEqual([next]);
  holders.release(ended);
  expect(holders.findable([ended, next])).toEqual([next]);
});

test("a shell of another host can be found even if a shell of this host has the same tag", () => {
  const holders = new TagHolders();
  const [own, other] = [firstShell("own", 0.1), firstShell("other", 0.9)];
  expect(own.tag).toBe(other.tag);
  holders.take(own);
  expect(holders.findable([own, other])).toEqual([own, other]);
});
