// Background shells that are started from a session and cannot take over all of its state: what is missing is named, and
// the rest is there.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openSession, type TestSession } from "../fixtures/sessions.ts";
import { eventually } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, manager, directory } = useTools();
const shells = { manager, directory };

/** bash prints the second one in a way that reads as the end of the first. */
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
  test("names the functions that bash cannot read back, and has everything else", async () => {
    const place = openSession(shells);
    await place.run(KEPT);
    await place.run(UNREADABLE);
    const shell = await place.session.start("also; shopt nullglob; exit 3");
    expect(shell.remarks).toEqual([NAMED]);
    expect(await shell.wait(20_000)).toBe(3);
    expect(shell.getAllOutput()).toMatch(/^kept\nnullglob\s+on\n$/);
    expect(shell.remarks).toEqual([NAMED]);
  });

  test("names them where the session's own bash is a new one that names them, too", async () => {
    const place = openSession(shells);
    await place.run(UNREADABLE);
    const pid = await pidOf(place);
    await place.session.save();
    process.kill(pid, "SIGKILL");
    await eventually(() => expect(place.session.hasBash).toBe(false));
    const shell = await place.session.start("true");
    expect(shell.remarks).toEqual([NAMED]);
    const { notes } = await place.run("true");
    expect(notes).toContainEqual(expect.stringMatching(/^Not restored .*: function f, function zz\.$/));
  });

  test.each([
    ["functions and exports", `${KEPT}; declare -x R=1; readonly R; declare -ix I=5; declare -ax A=(1 2)`],
    ["odd functions", "function a=b { :; }; declare() { :; }; printf() { :; }; f() { coproc cat; }"],
    ["fields that are split elsewhere", "export IFS=:; f() { :; }"],
    ["nothing", "true"],
  ])("with %s, all of which it takes over, has no remark", async (_what, script) => {
    const place = openSession(shells);
    await place.run(script);
    const shell = await place.session.start("true", { env: { OWN: "1" } });
    expect(shell.remarks).toEqual([]);
    await shell.wait(20_000);
    expect(shell.remarks).toEqual([]);
  });

  test("tells of it in the result of its start and of its end", async () => {
    const { bash, call, read, manager: own } = tools();
    await bash(UNREADABLE);
    const started = await call("Bash", { command: "true", run_in_background: true });
    expect(started.notes).toEqual([NAMED]);
    const shell = own.getShell(String(started.metadata["bash_id"]));
    if (!shell) throw new Error("no shell");
    expect((await read(shell, { wait_for: "exit" })).notes).toContainEqual(NAMED);
  });

  test("of a session whose bash is stopped starts after a while, and names the missing state", async () => {
    const place = openSession(shells);
    await place.run("export V=old");
    const pid = await pidOf(place);
    await place.session.save();
    await place.run("export V=new");
    // Its state is saved when the result is out: not yet.
    process.kill(pid, "SIGSTOP");
    const shell = await place.session.start("echo $V");
    expect(shell.remarks).toEqual([
      expect.stringMatching(/the changes of the last command, .*bash took longer than \d+ ms/),
    ]);
    await shell.wait(20_000);
    expect(shell.getAllOutput()).toBe("old\n");
    process.kill(pid, "SIGCONT");
    expect((await place.run("echo $V")).out).toBe("new\n");
  });
});
