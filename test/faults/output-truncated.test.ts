// Commands and other processes that truncate, remove or replace the files that keep output. What is left is shown,
// the loss is reported, and the next commands get their own output and nothing else.
import { readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSession, type TestSession } from "../fixtures/sessions.ts";
import { eventually } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, manager, directory } = useTools();
const shells = { manager, directory };

/** Truncates a file as soon as this line is in it. */
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
  test("truncated by the command: the result has what was printed after that, and says so", async () => {
    const place = openSession(shells);
    const { stdout } = await files(place);
    const result = await place.run(`echo before; ${truncating(stdout, "before")}; echo after; (exit 4)`);
    expect(result).toMatchObject({ exitCode: 4, out: "after\n", notes: [truncated(stdout, BYTES_GONE)] });
    await expectNoTrouble(place);
  });

  test("truncated by the command, which then prints more than the file contained before", async () => {
    const place = openSession(shells);
    const { stdout, stderr } = await files(place);
    const both = [stdout, stderr].map((file) => truncating(file, "before")).join("; ");
    const result = await place.run(`echo before | tee /dev/stderr; ${both}; seq 500 | tee /dev/stderr`);
    expect(result.notes).toEqual([truncated(stdout, BYTES_GONE), truncated(stderr, BYTES_GONE)]);
    for (const text of [result.out, result.err]) expect(text).toMatch(/^1\n2\n[\s\S]*\n500\n$/);
    await expectNoTrouble(place);
  });

  test("truncated between two commands: the next one's output is complete, and the result says so", async () => {
    const place = openSession(shells);
    const { stdout, stderr } = await files(place);
    truncateSync(stdout);
    truncateSync(stderr);
    expect(await place.run("echo all of it; echo all of it, too, and longer than before >&2")).toMatchObject({
      out: "all of it\n",
      err: "all of it, too, and longer than before\n",
      notes: [truncated(stdout, EARLIER_GONE), truncated(stderr, EARLIER_GONE)],
    });
    await expectNoTrouble(place);
  });

  test("truncated after a long output, when other loggers write", async () => {
    const place = openSession(shells);
    await place.run("seq 20000");
    const { stdout } = await files(place);
    const result = await place.run(`echo before; ${truncating(stdout, "before")}; echo after`);
    expect(result).toMatchObject({ out: "after\n", notes: [truncated(stdout, BYTES_GONE)] });
    await expectNoTrouble(place);
  });

  test("truncated by a command that ends bash", async () => {
    const place = openSession(shells);
    const { stdout } = await files(place);
    const result = await place.run(`echo before; ${truncating(stdout, "before")}; echo after; exit 5`);
    expect(result).toMatchObject({ exitCode: 5, out: "after\n", restarted: true });
    expect(result.notes).toContainEqual(truncated(stdout, BYTES_GONE));
    await expectNoTrouble(place);
  });

  test("truncated by a command that went on in the background", async () => {
    const place = openSession(shells);
    const { stdout } = await files(place);
    const { dir } = place;
    const wait = `until [ -e ${dir}/go ]; do sleep 0.01; done`;
    const command = `echo before; ${wait}; ${truncating(stdout, "before")}; echo after`;
    const { shell } = await place.run(command, { backgroundAfterMs: 200 });
    writeFileSync(join(dir, "go"), "");
    await shell?.wait(20_000);
    expect(shell?.remarks).toEqual([truncated(stdout, BYTES_GONE)]);
    expect(shell?.getAllOutput()).toBe("after\n");
    await expectNoTrouble(place);
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
    "%s, by the command or between two commands, is put back, and the result says so",
    async (_what, act, command) => {
      const place = openSession(shells);
      const said = expect.stringMatching(/^Files in .* had been removed or replaced\. They were restored/);
      const first = await files(place);
      expect(await place.run(`echo before; ${command(first.stdout)}; echo after; (exit 6)`)).toMatchObject({
        exitCode: 6,
        out: "before\nafter\n",
        notes: [said],
      });
      await expectNoTrouble(place);
      const second = await files(place);
      act(second.stderr);
      expect(await place.run("echo on; echo on >&2")).toMatchObject({
        out: "on\n",
        err: "on\n",
        notes: [said],
      });
      await expectNoTrouble(place);
    },
  );
});

describe("the output file of a command with a bash of its own", () => {
  const OWN = `"\${0%/*}/out"`;

  test("truncated by the command: what is left is shown, and the remark says so", async () => {
    const shell = await manager().createShell({
      command: `echo before; ${truncating(OWN, "before")}; echo after; exit 4`,
      workingDir: "/",
    });
    expect(await shell.wait(20_000)).toBe(4);
    expect(shell.remarks).toEqual([truncated(shell.outputFiles.stdout, BYTES_GONE)]);
    expect(shell.getAllOutput()).toBe("after\n");
  });

  test("truncated by a foreground command: the result of the tool says so", async () => {
    const { call } = tools();
    const command = `echo before; ${truncating(OWN, "before")}; echo after; exit 4`;
    const result = await call("bash", { command });
    expect(result).toMatchObject({ output: "after\n", metadata: { exit_code: 4 } });
    expect(result.notes).toContainEqual(expect.stringMatching(/^output truncated: .* bytes of output/));
  });

  test("truncated while a reader is in the middle: the reader gets everything new, and the remark says so", async () => {
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
    // Longer by now than what the reader had read.
    await eventually(() => expect(readFileSync(stdout, "utf8")).toMatch(/^1999$/m));
    expect(shell.getNewOutput()).toMatch(/^1000\n1001\n[\s\S]*\n1999\n$/);
    expect(shell.remarks).toEqual([truncated(stdout, "output of this command are gone")]);
    writeFileSync(join(dir, "end"), "");
    expect(await shell.wait(20_000)).toBe(3);
    expect(shell.getNewOutput()).toBe("");
    expect(shell.remarks).toEqual([truncated(stdout, BYTES_GONE)]);
  });

  test("that is as it was gets no remark, whatever was printed to it", async () => {
    const shells = manager();
    for (const command of ["seq 100000", "yes | head -c 3M; echo >&2", "true", "seq 10 & seq 10 >&2; wait"]) {
      const shell = await shells.createShell({ command, workingDir: "/" });
      await shell.wait(20_000);
      expect(shell.remarks).toEqual([]);
    }
  });
});
