import { describe, expect, test } from "vitest";
import { Turns } from "../../src/execution/turns.ts";

const nobody = () => {
  throw new Error("nobody waits here");
};

/** Takes a turn that must wait, and tells how many were before it. */
function queue(turns: Turns, scope = "s", signal?: AbortSignal) {
  const state = { before: -1, isOver: false, end: () => {} };
  const taken = turns
    .take(scope, (before) => (state.before = before), signal)
    .then((end) => {
      state.isOver = true;
      state.end = end;
    });
  return { state, taken };
}

describe("turns", () => {
  test("are given at once up to the limit, then in order, per scope", async () => {
    const turns = new Turns(2);
    const end = await turns.take("s", nobody);
    await turns.take("s", nobody);
    const third = queue(turns);
    const fourth = queue(turns);
    await turns.take("another", nobody);
    expect([third.state.before, fourth.state.before]).toEqual([0, 1]);
    end();
    await third.taken;
    expect([third.state.isOver, fourth.state.isOver]).toEqual([true, false]);
    third.state.end();
    await fourth.taken;
    expect(fourth.state.isOver).toBe(true);
  });

  test("are ended once, however often that is said", async () => {
    const turns = new Turns(1);
    const end = await turns.take("s", nobody);
    const [second, third] = [queue(turns), queue(turns)];
    end();
    end();
    await second.taken;
    expect(third.state.isOver).toBe(false);
    second.state.end();
    await third.taken;
    third.state.end();
    await turns.take("s", nobody);
  });

  test("go on to the next when one that waits gives up", async () => {
    const turns = new Turns(1);
    const end = await turns.take("s", nobody);
    const controller = new AbortController();
    const leaving = queue(turns, "s", controller.signal);
    const staying = queue(turns);
    controller.abort("enough");
    await expect(leaving.taken).rejects.toBe("enough");
    end();
    await staying.taken;
    expect(staying.state.isOver).toBe(true);
  });

  test("are not given to one that has already given up", async () => {
    const turns = new Turns(1);
    await expect(turns.take("s", nobody, AbortSignal.abort("gone"))).rejects.toBe("gone");
    await turns.take("s", nobody);
  });
});
