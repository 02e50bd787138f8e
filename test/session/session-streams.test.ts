// `$?`, file descriptors and the files of earlier output persist between the commands of a session.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSession } from "../fixtures/sessions.ts";
import { useShells } from "../fixtures/shells.ts";

const shells = useShells({ shareManager: true });

describe("the exit code of the previous command", () => {
  test.each([
    "set -u",
    "set -x",
    "set -a",
    "set -v",
    "trap : DEBUG",
    "trap : RETURN",
    "trap 'x=1' ERR",
    "set -uxa; trap : DEBUG",
  ])("is $? under %s", async (setting) => {
    const { run } = openSession(shells);
    await run(setting);
    await run("(exit 7)");
    expect((await run('printf "%s\\n" "$?"')).out).toBe("7\n");
    expect((await run("true")).err).not.toMatch(/return|exit/);
  });
});

test("a copy of stdout prints to the command that uses it, even after a long output or a leftover", async () => {
  const { run } = openSession(shells);
  await run("exec 3>&1 4>&2");
  await run("seq 20000");
  expect(await run("echo two >&3; echo err >&4")).toMatchObject({ out: "two\n", err: "err\n" });
  const { out } = await run("sleep 300 & echo $!");
  expect(await run("echo three >&3")).toMatchObject({ out: "three\n" });
  await run(`kill ${out}`);
});

describe("a descriptor of 10 or more", () => {
  test("stays open in later commands, even after a long output and a leftover", async () => {
    const { run, say, dir } = openSession(shells);
    await run("exec 10>ten 11>eleven 12>twelve 13>thirteen 200>lock");
    await run("echo a >&10; echo b >&11; echo c >&12; echo d >&13; echo e >&200");
    await run("seq 20000");
    const { out: left } = await run("sleep 300 & echo $!");
    expect(await run("echo f >&10; echo g >&11; echo h >&12; echo shown; echo too >&2")).toMatchObject({
      out: "shown\n",
      err: "too\n",
    });
    await say("flock -n 200; sh -c 'echo i >&3' 3>&10; echo j >&13");
    const read = (name: string) => readFileSync(join(dir, name), "utf8");
    expect(["ten", "eleven", "twelve", "thirteen", "lock"].map(read)).toEqual([
      "a\nf\ni\n",
      "b\ng\n",
      "c\nh\n",
      "d\nj\n",
      "e\n",
    ]);
    await run(`kill ${left}`);
  });

  test("keeps the number that bash assigned to a variable", async () => {
    const { run, say } = openSession(shells);
    await run("exec {one}>first {two}>second");
    await run('exec {three}<first; echo x >&"$one"; echo y >&"$two"');
    expect(await say('read -r line <&"$three"; echo "$line"; cat second')).toBe("x\ny");
  });

  test("is closed when a command has closed it", async () => {
    const { run } = openSession(shells);
    await run("exec 10>ten 11>eleven");
    await run("exec 10>&-");
    const { exitCode, err } = await run("echo x >&10");
    expect(exitCode).toBe(1);
    expect(err).toContain("10: Bad file descriptor");
    expect(await run("echo y >&11; cat eleven; exec 11>&-")).toMatchObject({ out: "y\n" });
    expect(await run("ls /proc/self/fd")).toMatchObject({ out: "0\n1\n2\n3\n" });
  });

  test("that is a copy of stdout or stderr prints into the output of the command that uses it", async () => {
    const { run } = openSession(shells);
    await run("exec 10>&1 11>&2");
    await run("seq 20000");
    expect(await run("echo out >&10; echo err >&11")).toMatchObject({ out: "out\n", err: "err\n" });
  });
});

test.each([
  "ulimit -n 64",
  "prlimit --pid $$ --nofile=64",
  "exec() { echo hijacked; }",
  "command() { echo hijacked; }",
  "set -o noclobber",
  "exec 0<&- 1>&- 2>&-",
])("%s does not affect the input and output of later commands", async (setting) => {
  const { run } = openSession(shells);
  await run(setting);
  await run("false");
  for (let count = 0; count < 2; count++) {
    const shown = await run("echo $?; cat; sleep 0; echo err >&2; ls /proc/self/fd");
    expect(shown).toMatchObject({ out: `${1 - count}\n0\n1\n2\n3\n`, err: "err\n", notes: [] });
  }
});

test("the output file of a leftover and the files of a result still exist after many long outputs", async () => {
  const { run, session } = openSession(shells);
  const left = await run(
    "(read -r < <(sleep 300 & echo $! > pid; wait); echo late) 2>/dev/null & echo begun",
  );
  const named = await run("seq 10000");
  const file = named.fileOf("stdout");
  for (let count = 0; count < 80; count++) await run("seq 10000");
  expect(readFileSync(file, "utf8")).toMatch(/^1\n2\n[\s\S]*\n10000\n$/);
  expect(existsSync(left.leftoverShell?.outputFiles.stdout ?? "")).toBe(true);
  await run("kill $(cat pid)");
  await session.close();
}, 60_000);

test("the output to new loggers is complete, even if bash has hundreds of open descriptors", async () => {
  const { run } = openSession(shells);
  // bash saves its stdout at the first free descriptor above 9, and reads its script from descriptor 255.
  const open = 'for ((fd = 10; fd < 700; fd++)); do ((fd == 255)) || eval "exec $fd</dev/null"; done';
  expect(await run(open)).toMatchObject({ exitCode: 0, restarted: false });
  for (let round = 0; round < 5; round++) {
    // Output of this size gets its own file, so the next command prints to new loggers.
    const { out, restarted } = await run(`head -c 25000 /dev/zero | tr '\\0' x; echo ${round}`);
    expect([out.length, out.slice(25000), restarted]).toEqual([25002, `${round}\n`, false]);
  }
});
