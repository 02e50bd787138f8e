import { appendFileSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readEndRecord, writeCause } from "../../src/engine/end-record.ts";
import { ALL_OUTPUT_MAX_BYTES } from "../../src/support/limits.ts";
import { loggerPids } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, directory, run } = useShells();

/** A shell that says a word for every line that is appended to a file. */
async function talker() {
  const dir = directory();
  writeFileSync(join(dir, "script"), "");
  const shell = await manager().createShell({
    command: 'exec 3< <(tail -n +1 -f script); while read -r -u 3 line; do eval "$line"; done',
    workingDir: dir,
  });
  const say = (line: string) => appendFileSync(join(dir, "script"), `${line}\n`);
  return { shell, say };
}

const size = (of: string) => Buffer.byteLength(of);

describe("what it is", () => {
  test("stands in its fields while it runs and after", async () => {
    const before = Date.now();
    const shell = await manager().createShell({ command: "echo up; sleep 300", workingDir: tmpdir() });
    expect(shell).toMatchObject({
      command: "echo up; sleep 300",
      workingDir: tmpdir(),
      scope: "default",
      status: "running",
      isRunning: true,
      exitCode: null,
      signal: null,
      completedAt: null,
      outcome: undefined,
      remarks: [],
    });
    expect(shell.createdAt).toBeGreaterThanOrEqual(before);
    expect(shell.startedAt).toBeGreaterThanOrEqual(shell.createdAt);
    await shell.kill({ graceMs: 0 });
    expect(shell.completedAt).toBeGreaterThanOrEqual(shell.startedAt);
    const { durationMs } = shell;
    await eventually(() => expect(Date.now() - (shell.completedAt ?? 0)).toBeGreaterThan(20));
    expect(shell.durationMs).toBe(durationMs);
    expect(durationMs).toBeLessThan(20_000);
  });

  test("a death by signal has its name, and an exit code above 128 that is none has not", async () => {
    const shells = manager();
    expect(await run(shells, "kill -SEGV $$")).toMatchObject({
      signal: "SIGSEGV",
      exitCode: 139,
      status: "failed",
    });
    expect(await run(shells, "exit 255")).toMatchObject({ signal: null, exitCode: 255, status: "failed" });
  });
});

describe("new output", () => {
  test("comes once, stdout first, and moves the cursors by bytes", async () => {
    const { shell, say } = await talker();
    say("echo é; echo oops >&2");
    await shell.waitFor({ pattern: /é/ }, 10_000);
    await shell.waitFor({ pattern: /oops/ }, 10_000);
    expect(shell.getNewOutput()).toBe("é\n[stderr]\noops\n");
    expect([shell.lastReadStdout, shell.lastReadStderr]).toEqual([size("é\n"), 5]);
    expect(shell.getNewOutput()).toBe("");
    say("echo more");
    await shell.waitFor({ pattern: /more/ }, 10_000);
    expect(shell.getNewOutput()).toBe("more\n");
    expect(shell.getAllOutput()).toBe("é\nmore\n[stderr]\noops\n");
  });

  test("without stderr leaves it for the next read", async () => {
    const shell = await run(manager(), "echo a; echo b >&2");
    expect(shell.getNewOutput({ includeStderr: false })).toBe("a\n");
    expect(shell.lastReadStderr).toBe(0);
    expect(shell.getNewOutput()).toBe("[stderr]\nb\n");
  });

  test("of one reader is still new to another", async () => {
    const shell = await run(manager(), "echo a");
    expect(shell.getNewOutput({ reader: "x" })).toBe("a\n");
    expect(shell.getNewOutput({ reader: "y" })).toBe("a\n");
    expect(shell.getNewOutput()).toBe("a\n");
    expect(shell.getNewOutput({ reader: "x" })).toBe("");
  });

  test("never holds half a character, unless that is all there will ever be", async () => {
    const { shell, say } = await talker();
    say("printf 'a\\xe2\\x82'");
    await eventually(() => expect(shell.getAllOutput()).toBe("a\ufffd"));
    expect(shell.getNewOutput()).toBe("a");
    expect(shell.getNewOutput()).toBe("");
    say("printf '\\xac\\xe2'");
    await eventually(() => expect(shell.getNewOutput()).toBe("€"));
    say("exit 0");
    await shell.wait(10_000);
    expect(shell.getNewOutput()).toBe("\ufffd");
  });

  test("puts the mark of stderr on a line of its own", async () => {
    expect((await run(manager(), "printf a; echo b >&2")).getAllOutput()).toBe("a\n[stderr]\nb\n");
    expect((await run(manager(), "echo b >&2")).getAllOutput()).toBe("[stderr]\nb\n");
    expect((await run(manager(), "printf '\\n\\na\\n\\n'")).getAllOutput()).toBe("\n\na\n\n");
  });
});

test("all output beyond the size of a sensible string is refused, and the file is named", async () => {
  const shell = await run(manager(), "echo a");
  truncateSync(shell.outputFiles.stdout, ALL_OUTPUT_MAX_BYTES + 1);
  expect(() => shell.getAllOutput()).toThrow(
    expect.objectContaining({
      code: "limit_reached",
      message: `The output has ${ALL_OUTPUT_MAX_BYTES + 1} bytes, too many for one string. Read ${shell.outputFiles.stdout} in parts.`,
    }),
  );
});

describe("waiting", () => {
  test("for the end gives the code", async () => {
    const shell = await manager().createShell({ command: "exit 3", workingDir: tmpdir() });
    expect(await shell.wait()).toBe(3);
    expect(await shell.wait(0)).toBe(3);
  });

  test("that expires throws and ends nothing", async () => {
    const shell = await manager().createShell({ command: "sleep 300", workingDir: tmpdir() });
    await expect(shell.wait(20)).rejects.toMatchObject({
      code: "timed_out",
      message: `Waited 20ms for the end of ${shell.id}; it is still running.`,
    });
    expect(shell.status).toBe("running");
    await shell.kill({ graceMs: 0 });
  });

  test("of several for one end all end with it", async () => {
    const { shell, say } = await talker();
    const waits = [shell.wait(), shell.wait(10_000), shell.waitFor({ exit: true })];
    say("exit 4");
    expect(await Promise.all(waits)).toEqual([4, 4, { kind: "ended", outcome: { kind: "exited", code: 4 } }]);
  });
});

describe("remarks", () => {
  test("say that the cap was reached", async () => {
    const shell = await run(manager(), "yes", { capBytes: 8192 });
    expect(shell.remarks).toEqual([expect.stringMatching(/^output cap reached: only the first 8192 bytes/)]);
    expect(size(shell.getAllOutput())).toBe(8192);
  });

  test("say that a logger was killed by another process", async () => {
    const { shell, say } = await talker();
    const [out = Number.NaN] = await loggerPids(shell.started.shimPid);
    process.kill(out, "SIGKILL");
    say("exit 0");
    await shell.wait(10_000);
    expect(shell.remarks).toEqual([expect.stringMatching(/^logger lost/)]);
  });

  test("say that output on disk is shorter than what was written", async () => {
    const shell = await run(manager(), "echo hello");
    expect(shell.remarks).toEqual([]);
    truncateSync(shell.outputFiles.stdout, 2);
    expect(shell.remarks).toEqual([expect.stringMatching(/^output truncated: .*\/out: 4 bytes/)]);
  });
});

describe("a shim that is killed", () => {
  test("makes its shell lost, never a success, and the command ends", async () => {
    const { shell } = await talker();
    process.kill(shell.started.shimPid, "SIGKILL");
    expect(await shell.wait(10_000)).toBeNull();
    expect(shell).toMatchObject({ status: "lost", exitCode: null, signal: null });
    await eventually(async () => expect(await shell.leftovers()).toEqual([]));
  });
});

test("a cause written by another process decides the outcome", async () => {
  const { shell } = await talker();
  writeCause(shell.started.files.record, { kind: "killed", detail: "the CLI" });
  process.kill(-shell.started.commandPid, "SIGKILL");
  await shell.wait(10_000);
  expect(shell.outcome).toEqual({ kind: "killed", by: "the CLI", code: 137 });
  expect(readEndRecord(shell.started.files.record).exit).toMatchObject({ code: 137 });
});
