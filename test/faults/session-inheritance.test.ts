// A background shell cannot always inherit the whole state of its session. The remark names the missing parts, and the
// rest is inherited.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openSession, type TestSession } from "../fixtures/sessions.ts";
import { eventually } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, manager, directory } = useTools();
const shells = { manager, directory };

/** The here-document in f looks like the end of f and the start of zz, so bash cannot read back its own listing. */
const UNREADABLE = "f() { cat <<X\n}\nzz () \n{ \n    :\n}\nX\n}\nzz() { echo zz; }";
const KEPT = "export V=kept; also() { echo $V; }; shopt -s nullglob";
const NAMED = expect.stringMatching(
  /^Not inherited from the session, .*: function f, function zz\. All other functions/,
);

async function pidOf({ run }: TestSession): Promise<number> {
  const pid = Number((await run('/bin/echo "$$"')).out);
  expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).toContain("--noprofile");
  return pid;
}

describe("a background shell", () => {
  test("names the functions that bash cannot read back, and inherits everything else", async () => {
    const opened = openSession(shells);
    await opened.run(KEPT);
    await opened.run(UNREADABLE);
    const shell = await opened.session.start("also; shopt nullglob; exit 3");
    expect(shell.remarks).toEqual([NAMED]);
    expect(await shell.wait(20_000)).toBe(3);
    expect(shell.getAllOutput()).toMatch(/^kept\nnullglob\s+on\n$/);
    expect(shell.remarks).toEqual([NAMED]);
  });

  test("names those functions even if the session's next bash has to name them, too", async () => {
    const opened = openSession(shells);
    await opened.run(UNREADABLE);
    const pid = await pidOf(opened);
    await opened.session.save();
    process.kill(pid, "SIGKILL");
    await eventually(() => expect(opened.session.hasBash).toBe(false));
    const shell = await opened.session.start("true");
    expect(shell.remarks).toEqual([NAMED]);
    const { notes } = await opened.run("true");
    expect(notes).toContainEqual(expect.stringMatching(/^Not restored .*: function f, function zz\.$/));
  });

  test.each([
    ["functions and exports", `${KEPT}; declare -x R=1; readonly R; declare -ix I=5; declare -ax A=(1 2)`],
    ["odd functions", "function a=b { :; }; declare() { :; }; printf() { :; }; f() { coproc cat; }"],
    ["a changed IFS", "export IFS=:; f() { :; }"],
    ["no changed state", "true"],
  ])("with %s, which it inherits completely, has no remark", async (_what, script) => {
    const opened = openSession(shells);
    await opened.run(script);
    const shell = await opened.session.start("true", { env: { OWN: "1" } });
    expect(shell.remarks).toEqual([]);
    await shell.wait(20_000);
    expect(shell.remarks).toEqual([]);
  });

  test("names the missing functions in the results of its start and its end", async () => {
    const { bash, call, read, manager: own } = tools();
    await bash(UNREADABLE);
    const started = await call("Bash", { command: "true", run_in_background: true });
    expect(started.notes).toEqual([NAMED]);
    const shell = own.getShell(String(started.metadata["bash_id"]));
    if (!shell) throw new Error("no shell");
    expect((await read(shell, { wait_for: "exit" })).notes).toContainEqual(NAMED);
  });

  test("of a session whose bash is stopped starts after a delay, and names the missing state", async () => {
    const opened = openSession(shells);
    const pid = await pidOf(opened);
    const shell = await eventually(async () => {
      await opened.run("export V=old");
      await opened.session.save();
      await opened.run("export V=new");
      // bash saves its state after the result. If it has already saved the new value, continue it and try again.
      process.kill(pid, "SIGSTOP");
      const started = await opened.session.start("echo $V");
      if (started.remarks.length === 0) process.kill(pid, "SIGCONT");
      expect(started.remarks).toEqual([
        expect.stringMatching(/the changes of the last command, .*bash took longer than \d+ ms/),
      ]);
      return started;
    });
    await shell.wait(20_000);
    expect(shell.getAllOutput()).toBe("old\n");
    process.kill(pid, "SIGCONT");
    expect((await opened.run("echo $V")).out).toBe("new\n");
  });
});
