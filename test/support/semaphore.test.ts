import { describe, expect, test } from "vitest";
import { KeyedSemaphore, Semaphore } from "../../src/support/semaphore.ts";

const mustNotWait = () => {
  throw new Error("this caller must not wait");
};
const free = { onWait: mustNotWait };

/** Requests a lease that is not free, so the caller has to wait. */
function wait(semaphore: KeyedSemaphore, key = "s", signal?: AbortSignal) {
  const state = { before: -1, isOver: false, leave: () => {} };
  const taken = semaphore.take(key, { onWait: (before) => (state.before = before), signal }).then((lease) => {
    state.isOver = true;
    state.leave = () => lease[Symbol.dispose]();
  });
  return { state, taken };
}

describe("a semaphore for each key", () => {
  test("admits callers at once up to the limit, then in order, for each key", async () => {
    const semaphore = new KeyedSemaphore(2);
    const first = await semaphore.take("s", free);
    await semaphore.take("s", free);
    const third = wait(semaphore);
    const fourth = wait(semaphore);
    await semaphore.take("another", free);
    expect([third.state.before, fourth.state.before]).toEqual([0, 1]);
    first[Symbol.dispose]();
    await third.taken;
    expect([third.state.isOver, fourth.state.isOver]).toEqual([true, false]);
    third.state.leave();
    await fourth.taken;
    expect(fourth.state.isOver).toBe(true);
  });

  test("admits only one caller, even if a holder releases its lease more than once", async () => {
    const semaphore = new KeyedSemaphore(1);
    const first = await semaphore.take("s", free);
    const [second, third] = [wait(semaphore), wait(semaphore)];
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await second.taken;
    expect(third.state.isOver).toBe(false);
    second.state.leave();
    await third.taken;
    third.state.leave();
    first[Symbol.dispose]();
    await semaphore.take("s", free);
    const fourth = wait(semaphore);
    first[Symbol.dispose]();
    expect(fourth.state.before).toBe(0);
  });

  test("skips a waiting caller that gives up", async () => {
    const semaphore = new KeyedSemaphore(1);
    const first = await semaphore.take("s", free);
    const controller = new AbortController();
    const leaving = wait(semaphore, "s", controller.signal);
    const staying = wait(semaphore);
    controller.abort("enough");
    await expect(leaving.taken).rejects.toBe("enough");
    first[Symbol.dispose]();
    await staying.taken;
    expect(staying.state.isOver).toBe(true);
  });

  test("refuses a caller that has already given up", async () => {
    const semaphore = new KeyedSemaphore(1);
    const aborted = { ...free, signal: AbortSignal.abort("gone") };
    await expect(semaphore.take("s", aborted)).rejects.toBe("gone");
    await semaphore.take("s", free);
  });
});

test("a caller can be admitted before all waiting callers", async () => {
  const semaphore = new Semaphore(1);
  const holder = await semaphore.take();
  const order: string[] = [];
  const second = semaphore.take().then((lease) => {
    order.push("second");
    lease[Symbol.dispose]();
  });
  const first = semaphore.take({ isFirst: true }).then((lease) => {
    order.push(`first, has waited: ${lease.hasWaited}`);
    lease[Symbol.dispose]();
  });
  expect(holder.hasWaited).toBe(false);
  holder[Symbol.dispose]();
  await Promise.all([first, second]);
  expect(order).toEqual(["first, has waited: true", "second"]);
  expect(semaphore.isHeld).toBe(false);
});
