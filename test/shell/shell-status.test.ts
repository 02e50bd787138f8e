import { describe, expect, test } from "vitest";
import type { Outcome } from "../../src/shell/outcome.ts";
import {
  SHELL_STATUSES,
  SHELL_TRANSITIONS,
  type ShellStatus,
  statusOf,
} from "../../src/shell/shell-status.ts";

test.each<[Outcome | undefined, ShellStatus]>([
  [undefined, "running"],
  [{ kind: "exited", code: 0 }, "completed"],
  [{ kind: "exited", code: 1 }, "failed"],
  [{ kind: "signaled", signal: "SIGSEGV", code: 139 }, "failed"],
  [{ kind: "timedOut", afterMs: 1, code: 143 }, "timeout"],
  [{ kind: "killed", by: "x", code: 0 }, "killed"],
  [{ kind: "aborted", code: 143 }, "killed"],
  [{ kind: "failedToStart", reason: "x" }, "failed"],
  [{ kind: "lost", reason: "x" }, "lost"],
])("the outcome %j has the status %s", (outcome, status) => {
  expect(statusOf(outcome)).toBe(status);
});

describe("the life cycle", () => {
  test.each<[ShellStatus, ShellStatus, boolean]>([
    ["pending", "running", true],
    ["running", "completed", true],
    ["running", "failed", true],
    ["running", "timeout", true],
    ["running", "killed", true],
    ["running", "lost", true],
    ["pending", "completed", false],
    ["pending", "timeout", false],
    ["running", "pending", false],
    ["running", "running", false],
    ["completed", "running", false],
    ["killed", "completed", false],
    ["lost", "completed", false],
  ])("from %s to %s is possible: %s", (from, to, possible) => {
    expect(SHELL_TRANSITIONS[from].includes(to)).toBe(possible);
  });

  test("has no transition after an end, and can reach every status except pending", () => {
    const endings = SHELL_STATUSES.filter((status) => SHELL_TRANSITIONS[status].length === 0);
    expect(endings).toEqual(["completed", "failed", "killed", "timeout", "lost"]);
    const reached = new Set(Object.values(SHELL_TRANSITIONS).flat());
    expect(SHELL_STATUSES.filter((status) => !reached.has(status))).toEqual(["pending"]);
  });
});
