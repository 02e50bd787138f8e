import { execFileSync } from "node:child_process";
import { readFileSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readEndRecord } from "../../src/engine/end-record.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, run, directory } = useShells();

test("writing to /dev/stderr and /dev/stdout keeps the output that was printed before", async () => {
  const shell = await run(
    manager(),
    "echo a; echo A >&2; echo b > /dev/stderr; echo c > /dev/stdout; echo d; echo D >&2",
  );
  expect(shell.exitCode).toBe(0);
  expect(readFileSync(shell.outputFiles.stdout, "utf8")).toBe("a\nc\nd\n");
  expect(readFileSync(shell.outputFiles.stderr, "utf8")).toBe("A\nb\nD\n");
});

test("writing to /dev/fd/1, /dev/fd/2 and /proc/self/fd/1 works as on a pipe", async () => {
  const shell = await run(
    manager(),
    "echo a; echo b > /dev/fd/1; echo c > /proc/self/fd/1; echo d > /dev/fd/2; echo e | tee /dev/stderr",
  );
  expect(shell.exitCode).toBe(0);
  expect(shell.getAllOutput()).toBe("a\nb\nc\ne\n[stderr]\nd\ne\n");
});

test("merged streams keep the order of all output, even through /dev/stderr", async () => {
  const shell = await run(
    manager(),
    "for i in {1..50}; do echo o$i; echo e$i >&2; done; echo x > /dev/stderr; echo y > /dev/stdout",
    { streams: "merged" },
  );
  const expected = Array.from({ length: 50 }, (_, i) => `o${i + 1}\ne${i + 1}\n`).join("");
  expect(shell.getAllOutput()).toBe(`${expected}x\ny\n`);
});

test("a command that closes its output runs to completion", async () => {
  const shell = await run(manager(), "echo before; exec 1>&- 2>&-; exit 4");
  expect(shell).toMatchObject({ exitCode: 4, remarks: [] });
  expect(shell.getAllOutput()).toBe("before\n");
});

test("a command reads EOF from stdin at once", async () => {
  const shell = await run(
    manager(),
    "cat; read -r line; echo read=$? line=$line; [[ -t 0 ]] || echo no terminal",
  );
  expect(shell.getAllOutput()).toBe("read=1 line=\nno terminal\n");
});

test("NUL bytes and lines of any length are kept unchanged", async () => {
  const shell = await run(manager(), String.raw`printf 'a\0b\n'; printf '%0100000d' 7; printf '\0'`);
  expect(readFileSync(shell.outputFiles.stdout, "latin1")).toBe(`a\0b\n${"7".padStart(100_000, "0")}\0`);
});

test("the exit record counts the bytes of both streams", async () => {
  const shell = await run(manager(), "printf 12345; printf 1234567 >&2");
  expect(readEndRecord(shell.started.files.record).exit).toMatchObject({ stdoutBytes: 5, stderrBytes: 7 });
});

test.each(["stdout", "stderr"] as const)(
  "a %s file that is shorter than its exit record says counts as truncated",
  async (stream) => {
    const shell = await run(manager(), "echo some words; echo more words >&2");
    expect(shell.remarks).toEqual([]);
    truncateSync(shell.outputFiles[stream], 3);
    const { [stream]: file } = shell.outputFiles;
    expect(shell.remarks).toEqual([expect.stringContaining(`truncated ${file}: 8 bytes`)]);
  },
);

test("output that a leftover prints after the exit does not cause a remark", async () => {
  const fifo = join(directory(), "go");
  execFileSync("mkfifo", [fifo]);
  const shell = await run(manager(), `echo first; (read -r < ${fifo}; echo late) &`);
  expect(shell.getAllOutput()).toBe("first\n");
  execFileSync("bash", ["--norc", "-c", `echo > ${fifo}`]);
  await eventually(() => expect(shell.getAllOutput()).toBe("first\nlate\n"));
  expect(shell.remarks).toEqual([]);
});

test("merged streams use one logger, and split streams use two", async () => {
  const shells = manager();
  const childrenOf = (pid: number) =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").length;
  const counts = { merged: 0, split: 0 };
  for (const streams of ["merged", "split"] as const) {
    const shell = await shells.createShell({ command: "exec sleep 300", workingDir: tmpdir(), streams });
    counts[streams] = childrenOf(shell.started.shimPid);
  }
  expect(counts).toEqual({ merged: 2, split: 3 });
});

test("output files are private to the user", async () => {
  const shell = await run(manager(), "umask 000; echo secret");
  expect(statSync(shell.outputFiles.stdout).mode & 0o077 & statSync(shell.started.files.dir).mode).toBe(0);
});
