import { expect, test } from "vitest";
import { readEndRecord } from "../../src/engine/end-record.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager, run } = useShells();

test.each([
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGABRT", 134],
  ["SIGKILL", 137],
  ["SIGSEGV", 139],
  ["SIGPIPE", 141],
  ["SIGTERM", 143],
])("a command that dies of %s has exit code %i and the signal's name", async (signal, exitCode) => {
  const shell = await run(manager(), `echo before; kill -${signal.slice(3)} $$; echo not reached`);
  expect(shell).toMatchObject({
    status: "failed",
    exitCode,
    signal,
    outcome: { kind: "signaled", signal, code: exitCode },
  });
  expect(shell.getAllOutput()).toBe("before\n");
});

test.each([
  [34, "SIGRTMIN+0"],
  [40, "SIGRTMIN+6"],
  [64, "SIGRTMIN+30"],
])("death by real-time signal %i is a failure", async (number, signal) => {
  const shell = await run(manager(), `kill -${number} $$`);
  expect(shell).toMatchObject({ status: "failed", exitCode: 128 + number, signal });
});

test.each([
  ["exit 0", 0, "completed"],
  ["exit 1", 1, "failed"],
  ["exit 128", 128, "failed"],
  ["exit 255", 255, "failed"],
  ["exit 256", 0, "completed"],
  ["exit -1", 255, "failed"],
  ["nacre-no-such-program", 127, "failed"],
  ["/etc/passwd", 126, "failed"],
  ["set -e; false; echo not reached", 1, "failed"],
  ["set -u; echo $undefined_variable", 1, "failed"],
  ["exec sh -c 'exit 7'", 7, "failed"],
  ["trap 'exit 9' EXIT; exit 3", 9, "failed"],
  ["false | true", 0, "completed"],
  ["set -o pipefail; false | true", 1, "failed"],
  ["echo 'never closed", 2, "failed"],
  ["", 0, "completed"],
])("%j ends with code %i, and the record on disk has the same code", async (command, exitCode, status) => {
  const shell = await run(manager(), command);
  expect(shell).toMatchObject({ status, exitCode, signal: null, remarks: [] });
  expect(readEndRecord(shell.started.files.record).exit).toMatchObject({ code: exitCode });
});

test("if a child dies of a signal, the command continues, and sees the exit code 128 + signal", async () => {
  const shell = await run(manager(), "bash -c 'kill -9 $$'; echo code=$?; exit 5");
  expect(shell).toMatchObject({ exitCode: 5, signal: null });
  expect(shell.getAllOutput()).toContain("code=137\n");
});

test("a syntax error is reported with its line number", async () => {
  const shell = await run(manager(), "echo one\nif then\n");
  expect(shell.exitCode).toBe(2);
  expect(shell.getAllOutput()).toMatch(/^one\n\[stderr\]\n.*line 2: syntax error/);
});
