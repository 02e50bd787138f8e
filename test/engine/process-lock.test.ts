import { readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tryLock, unlock } from "../../src/engine/process-lock.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();
const owner = (pid: number, alive: readonly number[]) => ({
  self: { pid, startTime: "7" },
  isAlive: ({ pid: other }: { readonly pid: number }) => alive.includes(other),
});

test("only one process has the lock, and a dead process loses it even if it died during a takeover", () => {
  const lock = join(directory(), "lock");
  expect(tryLock(lock, owner(1, [1, 2]))).toBeUndefined();
  expect(tryLock(lock, owner(2, [1, 2]))).toBe("1-7");
  expect(tryLock(lock, owner(2, [2]))).toBeUndefined();
  expect(readlinkSync(lock)).toBe("2-7");
  unlock(lock);
  expect(tryLock(lock, owner(3, [3]))).toBeUndefined();
  symlinkSync("4-7", `${lock}.stale`);
  expect(tryLock(lock, owner(5, [5]))).toBe("3-7");
  expect(tryLock(lock, owner(5, [5]))).toBeUndefined();
});
