// Commands and other processes truncate, remove or replace output files. The remaining output is shown, the loss is
// reported, and later commands get only their own output.
import { readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSession, type TestSession } from "../fixtures/sessions.ts";
import { eventually } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, manager, directory } = useTools();
const shells = { manager, directory };

/** Truncates a file as soon as it contains this line. */
function truncating(file: string, line: string): string {
  return `until grep -qx '${line}' ${file}; do :; done; : > ${file}`;
}

function truncated(file: string, what: string): unknown {
  return expect.stringMatching(new RegExp(`^output truncated: .* truncated ${file}: ${what}`));
}

const BYTES_GONE = "\\d+ bytes of output of this command are gone";
const EARLIER_GONE = "the output of this command is complete; what earlier commands printed there is gone";

/** The files that the next command prints to. */
async function files({ run }: TestSession): Promise<{ stdout: string; stderr: string }> {
  const { stdout, stderr } = await run("echo a first line; echo another one >&2");
  return { stdout: stdout.path, stderr: stderr.path };
}

async function expectNoTrouble({ run }: TestSession): Promise<void> {
  for (const word of ["one", "two"])
    expect(await run(`echo ${word}; echo ${word} >&2`)).toMatchObject({
      out: `${word}\n`,
      err: `${word}\n`,
      notes: [],
    });
}

describe("a session's output file", () => {
  test("truncated by the command: the result has the later output and reports the loss", async () => {
    const opened = openSession(shells);
    const { stdout } = await files(opened);
    const result = await opened.run(`echo before; ${truncating(stdout, "before")}; echo after; (exit 4)`);
    expect(result).toMatchObject({ exitCode: 4, out: "after\n", notes: [truncated(stdout, BYTES_GONE)] });
    await expectNoTrouble(opened);
  });

  test("truncated by the command: the result reports the loss even if the file is now larger than before", async () => {
    const opened = openSession(shells);
    const { stdout, stderr } = await files(opened);
    const both = [stdout, stderr].map((file) => truncating(file, "before")).join("; ");
    const result = await opened.run(`echo before | tee /dev/stderr; ${both}; seq 500 | tee /dev/stderr`);
    expect(result.notes).toEqual([truncated(stdout, BYTES_GONE), truncated(stderr, BYTES_GONE)]);
    for (const text of [result.out, result.err]) expect(text).toMatch(/^1\n2\n[\s\S]*\n500\n$/);
    await expectNoTrouble(opened);
  });

  test("truncated between two commands: the next output is complete, and the result reports the loss", async () => {
    const opened = openSession(shells);
    const { stdout, stderr } = await files(opened);
    truncateSync(stdout);
    truncateSync(stderr);
    expect(await opened.run("echo all of it; echo all of it, too, and longer than before >&2")).toMatchObject(
      {
        out: "all of it\n",
        err: "all of it, too, and longer than before\n",
        notes: [truncated(stdout, EARLIER_GONE), truncated(stderr, EARLIER_GONE)],
      },
    );
    await expectNoTrouble(opened);
  });

  test("truncated after a long output has replaced the loggers: the result reports the loss", async () => {
    const opened = openSession(shells);
    await opened.run("seq 20000");
    const { stdout } = await files(opened);
    const result = await opened.run(`echo before; ${truncating(stdout, "before")}; echo after`);
    expect(result).toMatchObject({ out: "after\n", notes: [truncated(stdout, BYTES_GONE)] });
    await expectNoTrouble(opened);
  });

  test("truncated by the last command of a bash: the result reports the loss", async () => {
    const opened = openSession(shells);
    const { stdout } = await files(opened);
    const result = await opened.run(`echo before; ${truncating(stdout, "before")}; echo after; exit 5`);
    expect(result).toMatchObject({ exitCode: 5, out: "after\n", restarted: true });
    expect(result.notes).toContainEqual(truncated(stdout, BYTES_GONE));
    await expectNoTrouble(opened);
  });

  test("truncated by a command that continued in the background: the shell reports the loss", async () => {
    const opened = openSession(shells);
    const { stdout } = await files(opened);
    const { dir } = opened;
    const wait = `until [ -e ${dir}/go ]; do sleep 0.01; done`;
    const command = `echo before; ${wait}; ${truncating(stdout, "before")}; echo after`;
    const { shell } = await opened.run(command, { backgroundAfterMs: 200 });
    writeFileSync(join(dir, "go"), "");
    await shell?.wait(20_000);
    expect(shell?.remarks).toEqual([truncated(stdout, BYTES_GONE)]);
    expect(shell?.getAllOutput()).toBe("after\n");
    await expectNoTrouble(opened);
  });

  test.each([
    ["removed", (path: string) => rmSync(path), (path: string) => `rm ${path}`],
    [
      "replaced by another file",
      (path: string) => {
        renameSync(path, `${path}.old`);
        writeFileSync(path, "of another process\n");
      },
      (path: string) => `mv ${path} ${path}.old; echo of another process > ${path}`,
    ],
  ])(
    "%s by the command or between two commands: the file is restored, and the result says so",
    async (_what, act, command) => {
      const opened = openSession(shells);
      const restoredNote = expect.stringMatching(
        /^Files in .* had been removed or replaced\. They were restored/,
      );
      const first = await files(opened);
      expect(await opened.run(`echo before; ${command(first.stdout)}; echo after; (exit 6)`)).toMatchObject({
        exitCode: 6,
        out: "before\nafter\n",
        notes: [restoredNote],
      });
      await expectNoTrouble(opened);
      const second = await files(opened);
      act(second.stderr);
      expect(await opened.run("echo on; echo on >&2")).toMatchObject({
        out: "on\n",
        err: "on\n",
        notes: [restoredNote],
      });
      await expectNoTrouble(opened);
    },
  );
});

describe("the output file of a standalone shell", () => {
  const OWN = `"\${0%/*}/out"`;

  test("truncated by the command: the remaining output is shown, and the remark reports the loss", async () => {
    const shell = await manager().createShell({
      command: `echo before; ${truncating(OWN, "before")}; echo after; exit 4`,
      workingDir: "/",
    });
    expect(await shell.wait(20_000)).toBe(4);
    expect(shell.remarks).toEqual([truncated(shell.outputFiles.stdout, BYTES_GONE)]);
    expect(shell.getAllOutput()).toBe("after\n");
  });

  test("truncated by a foreground command: the tool's result reports the loss", async () => {
    const { call } = tools();
    const command = `echo before; ${truncating(OWN, "before")}; echo after; exit 4`;
    const result = await call("bash", { command });
    expect(result).toMatchObject({ output: "after\n", metadata: { exit_code: 4 } });
    expect(result.notes).toContainEqual(expect.stringMatching(/^output truncated: .* bytes of output/));
  });

  test("truncated between two reads: the reader gets all new output, and the remark reports the loss", async () => {
    const dir = directory();
    const waitFor = (name: string) => `until [ -e ${dir}/${name} ]; do sleep 0.01; done`;
    const shell = await manager().createShell({
      command: `seq 50; ${waitFor("go")}; seq 1000 1999; ${waitFor("end")}; exit 3`,
      workingDir: "/",
    });
    const { stdout } = shell.outputFiles;
    await eventually(() => expect(readFileSync(stdout, "utf8")).toMatch(/^50$/m));
    expect(shell.getNewOutput()).toMatch(/^1\n2\n[\s\S]*\n50\n$/);
    expect(shell.remarks).toEqual([]);
    truncateSync(stdout);
    writeFileSync(join(dir, "go"), "");
    // The file is now longer than the output that the reader had read.
    await eventually(() => expect(readFileSync(stdout, "utf8")).toMatch(/^1999$/m));
    expect(shell.getNewOutput()).toMatch(/^1000\n1001\n[\s\S]*\n1999\n$/);
    expect(shell.remarks).toEqual([truncated(stdout, "output of this command are gone")]);
    writeFileSync(join(dir, "end"), "");
    expect(await shell.wait(20_000)).toBe(3);
    expect(shell.getNewOutput()).toBe("");
    expect(shell.remarks).toEqual([truncated(stdout, BYTES_GONE)]);
  });

  test("that is not truncated causes no remark, whatever was printed", async () => {
    const shells = manager();
    for (const command of ["seq 100000", "yes | head -c 3M; echo >&2", "true", "seq 10 & seq 10 >&2; wait"]) {
      const shell = await shells.createShell({ command, workingDir: "/" });
      await shell.wait(20_000);
      expect(shell.remarks).toEqual([]);
    }
  });
});
