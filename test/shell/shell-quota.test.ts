import { expect, test } from "vitest";
import { ShellQuota } from "../../src/shell/shell-quota.ts";

test("a scope has so many places, and a place that was left can be taken again", () => {
  const places = new ShellQuota(2, () => [{ id: "shell_1", command: "sleep 300" }]);
  const leave = places.take("a");
  places.take("a");
  expect(() => places.take("a")).toThrow(
    "2 background shells are running, the most allowed. End one first: shell_1 (sleep 300)",
  );
  places.take("b");
  leave();
  places.take("a");
  expect(() => places.take("a")).toThrow("the most allowed");
});

test("a long or many-lined command is named by its beginning", () => {
  const places = new ShellQuota(0, () => [
    { id: "shell_1", command: "first line\nsecond" },
    { id: "shell_2", command: "x".repeat(80) },
  ]);
  expect(() => places.take("a")).toThrow(`shell_1 (first line), shell_2 (${"x".repeat(39)}…)`);
});
