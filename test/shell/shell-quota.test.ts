import { expect, test } from "vitest";
import { ShellQuota } from "../../src/shell/shell-quota.ts";

test("a scope has a limited number of shells, and an ended shell no longer counts", () => {
  const quota = new ShellQuota(2, () => [{ id: "shell_1", command: "sleep 300" }]);
  const release = quota.take("a");
  quota.take("a");
  expect(() => quota.take("a")).toThrow(
    "2 background shells are running, the most allowed. End one first: shell_1 (sleep 300)",
  );
  quota.take("b");
  release();
  quota.take("a");
  expect(() => quota.take("a")).toThrow("the most allowed");
});

test("the error shows the beginning of a long or multi-line command", () => {
  const quota = new ShellQuota(0, () => [
    { id: "shell_1", command: "first line\nsecond" },
    { id: "shell_2", command: "x".repeat(80) },
  ]);
  expect(() => quota.take("a")).toThrow(`shell_1 (first line), shell_2 (${"x".repeat(39)}…)`);
});
