import { appendFileSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readEndRecord, writeCause } from "../../src/engine/end-record.ts";
import { ALL_OUTPUT_MAX_BYTES } from "../../src/support/limits.ts";
import { loggerPids } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, directory, run } = useShells();

/** Starts a shell that evaluates each line that a test appends to a file. */
async function scriptedShell() {
  const dir = directory();
  writeFileSync(join(dir, "script"), "");
  const shell = await manager().createShell({
    command: 'exec 3< <(tail -n +1 -f script); while read -r -u 3 line; do eval "$line"; done',
    workingDir: dir,
  });
  const send = (line: string) => appendFileSync(join(dir, "script"), `${line}\n`);
  return { shell, send };
}

const size = (of: string) => Buffer.byteLength(of);

describe("the properties of a shell", () => {
  test("are set while it runs and after its end", async () => {
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

  test("include the signal of a death by signal, and no signal for an ordinary exit code above 128", async () => {
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
  test("is returned once, stdout first, and moves the cursors by bytes", async () => {
    const { shell, send } = await scriptedShell();
    send("echo é; echo oops >&2");
    await shell.waitFor({ pattern: /é/ }, 10_000);
    await shell.waitFor({ pattern: /oops/ }, 10_000);
    expect(shell.getNewOutput()).toBe("é\n[stderr]\noops\n");
    expect([shell.lastReadStdout, shell.lastReadStderr]).toEqual([size("é\n"), 5]);
    expect(shell.getNewOutput()).toBe("");
    send("echo more");
    await shell.waitFor({ pattern: /more/ }, 10_000);
    expect(shell.getNewOutput()).toBe("more\n");
    expect(shell.getAllOutput()).toBe("é\nmore\n[stderr]\noops\n");
  });

  test("that is read without stderr leaves the stderr output for the next read", async () => {
    const shell = await run(manager(), "echo a; echo b >&2");
    expect(shell.getNewOutput({ includeStderr: false })).toBe("a\n");
    expect(shell.lastReadStderr).toBe(0);
    expect(shell.getNewOutput()).toBe("[stderr]\nb\n");
  });

  test("of one reader is still new to another reader", async () => {
    const shell = await run(manager(), "echo a");
    expect(shell.getNewOutput({ reader: "x" })).toBe("a\n");
    expect(shell.getNewOutput({ reader: "y" })).toBe("a\n");
    expect(shell.getNewOutput()).toBe("a\n");
    expect(shell.getNewOutput({ reader: "x" })).toBe("");
  });

  test("contains an incomplete character only if the shell has ended", async () => {
    const { shell, send } = await scriptedShell();
    send("printf 'a\\xe2\\x82'");
    await eventually(() => expect(shell.getAllOutput()).toBe("a\ufffd"));
    expect(shell.getNewOutput()).toBe("a");
    expect(shell.getNewOutput()).toBe("");
    send("printf '\\xac\\xe2'");
    await eventually(() => expect(shell.getNewOutput()).toBe("€"));
    send("exit 0");
    await shell.wait(10_000);
    expect(shell.getNewOutput()).toBe("\ufffd");
  });

  test("puts the mark of stderr on a separate line", async () => {
    expect((await run(manager(), "printf a; echo b >&2")).getAllOutput()).toBe("a\n[stderr]\nb\n");
    expect((await run(manager(), "echo b >&2")).getAllOutput()).toBe("[stderr]\nb\n");
    expect((await run(manager(), "printf '\\n\\na\\n\\n'")).getAllOutput()).toBe("\n\na\n\n");
  });
});

test("output that is too large for one string is refused, and the error names the output file", async () => {
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
  test("for the end returns the exit code", async () => {
    const shell = await manager().createShell({ command: "exit 3", workingDir: tmpdir() });
    expect(await shell.wait()).toBe(3);
    expect(await shell.wait(0)).toBe(3);
  });

  test("that times out throws and does not end the shell", async () => {
    const shell = await manager().createShell({ command: "sleep 300", workingDir: tmpdir() });
    await expect(shell.wait(20)).rejects.toMatchObject({
      code: "timed_out",
      message: `Waited 20ms for the end of ${shell.id}; it is still running.`,
    });
    expect(shell.status).toBe("running");
    await shell.kill({ graceMs: 0 });
  });

  test("can happen several times for the same end, and every wait resolves", async () => {
    const { shell, send } = await scriptedShell();
    const waits = [shell.wait(), shell.wait(10_000), shell.waitFor({ exit: true })];
    send("exit 4");
    expect(await Promise.all(waits)).toEqual([4, 4, { kind: "ended", outcome: { kind: "exited", code: 4 } }]);
  });
});

describe("remarks", () => {
  test("report that the cap was reached", async () => {
    const shell = await run(manager(), "yes", { capBytes: 8192 });
    expect(shell.remarks).toEqual([expect.stringMatching(/^output cap reached: only the first 8192 bytes/)]);
    expect(size(shell.getAllOutput())).toBe(8192);
  });

  test("report that a logger was killed by another process", async () => {
    const { shell, send } = await scriptedShell();
    const [out = Number.NaN] = await loggerPids(shell.started.shimPid);
    process.kill(out, "SIGKILL");
    send("exit 0");
    await shell.wait(10_000);
    expect(shell.remarks).toEqual([expect.stringMatching(/^logger lost/)]);
  });

  test("report that output on disk is shorter than the written output", async () => {
    const shell = await run(manager(), "echo hello");
    expect(shell.remarks).toEqual([]);
    truncateSync(shell.outputFiles.stdout, 2);
    expect(shell.remarks).toEqual([expect.stringMatching(/^output truncated: .*\/out: 4 bytes/)]);
  });
});

describe("a shim that is killed", () => {
  test("makes its shell lost, never a success, and the command ends", async () => {
    const { shell } = await scriptedShell();
    process.kill(shell.started.shimPid, "SIGKILL");
    expect(await shell.wait(10_000)).toBeNull();
    expect(shell).toMatchObject({ status: "lost", exitCode: null, signal: null });
    await eventually(async () => expect(await shell.leftovers()).toEqual([]));
  });
});

test("a cause written by another process decides the outcome", async () => {
  const { shell } = await scriptedShell();
  writeCause(shell.started.files.record, { kind: "killed", detail: "the CLI" });
  process.kill(-shell.started.commandPid, "SIGKILL");
  await shell.wait(10_000);
  expect(shell.outcome).toEqual({ kind: "killed", by: "the CLI", code: 137 });
  expect(readEndRecord(shell.started.files.record).exit).toMatchObject({ code: 137 });
});
