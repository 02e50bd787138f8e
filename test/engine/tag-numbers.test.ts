import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { lockLimit } from "../../src/engine/process-table.ts";
import { SHELL_NUMBERS, TagSpace } from "../../src/engine/tag.ts";
import { TagNumbers, tagNumberOf } from "../../src/engine/tag-numbers.ts";
import { BASH } from "../fixtures/keepers.ts";

let children: ChildProcess[] = [];
afterEach(async () => {
  const ending = children;
  children = [];
  for (const child of ending) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});

/**
 * A tag space inside the tag of a shell. Elsewhere, its host number could collide with that of a test that
 * runs at the same time: there are only 1,023 host numbers.
 */
function space(): TagSpace {
  const outer = TagSpace.within(lockLimit("self") ?? "", Math.random());
  if (!outer) throw new Error("no room for tags below this process's limit");
  const shell = outer.shellTag(Math.floor(Math.random() * SHELL_NUMBERS));
  return TagSpace.within(`${shell}`, Math.random()) ?? outer;
}

/** A process with the tag of a shell, like a leftover. */
async function leftover(tags: TagSpace, number: number): Promise<number> {
  const child = spawn(BASH, ["-c", `ulimit -x ${tags.shellTag(number)}; echo up; exec sleep 300`]);
  children.push(child);
  await once(child.stdout, "data");
  return child.pid ?? -1;
}

async function takeUntil(numbers: TagNumbers, last: number): Promise<void> {
  for (;;) {
    const number = await numbers.take();
    numbers.release(number);
    if (number === last) return;
  }
}

test("shells get different numbers in turn until all are taken; a released number is assigned again", async () => {
  const numbers = new TagNumbers(space());
  for (let i = 0; i < SHELL_NUMBERS; i++) expect(await numbers.take()).toBe(i);
  await expect(numbers.take()).rejects.toMatchObject({
    code: "limit_reached",
    message: `All ${SHELL_NUMBERS} shells that this host can have at a time are alive. End some first.`,
  });
  numbers.release(77);
  expect(await numbers.take()).toBe(77);
});

test("a number is not assigned again before all other numbers were assigned", async () => {
  const numbers = new TagNumbers(space());
  const first = await numbers.take();
  numbers.release(first);
  expect(await numbers.take()).not.toBe(first);
});

test("a process has the number of its own shell, and no number of another host", async () => {
  const [tags, others] = [space(), space()];
  const pid = await leftover(tags, 42);
  expect(tagNumberOf(pid, tags)).toBe(42);
  if (others.keeperTag !== tags.keeperTag) expect(tagNumberOf(pid, others)).toBeUndefined();
  expect(tagNumberOf(2 ** 22 + 1, tags)).toBeUndefined();
});

test("a number is assigned again unless a process of its old shell is still running", async () => {
  const tags = space();
  const numbers = new TagNumbers(tags);
  await leftover(tags, 1);
  await takeUntil(numbers, SHELL_NUMBERS - 1);
  expect([await numbers.take(), await numbers.take()]).toEqual([0, 2]);
});

test("a call during the scan for numbers in use does not get a number in use", async () => {
  const tags = space();
  const numbers = new TagNumbers(tags);
  await leftover(tags, 0);
  await takeUntil(numbers, SHELL_NUMBERS - 2);
  const numbersTaken = await Promise.all([numbers.take(), numbers.take(), numbers.take()]);
  expect(numbersTaken.sort((a, b) => a - b)).toEqual([1, 2, SHELL_NUMBERS - 1]);
});
