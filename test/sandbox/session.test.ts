// A session in a sandbox runs one bash after another in the same sandbox. Processes and files persist between
// them.
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { findLeftovers } from "../../src/engine/find-leftovers.ts";
import { NO_PIDS } from "../../src/engine/pids-since.ts";
import { isSameProcess } from "../../src/engine/process-table.ts";
import type { StartedShell } from "../../src/engine/started-shell.ts";
import { leftoversOfCommand } from "../../src/session/command-processes.ts";
import { Mark } from "../fixtures/marked.ts";
import { describeSandboxed, useSandboxWorld } from "../fixtures/sandboxes.ts";
import { openSession } from "../fixtures/sessions.ts";
import { eventually } from "../fixtures/shells.ts";

const world = useSandboxWorld();
const { workspace, home, outside } = world;
const manager = world.manager({ sandbox: "workspace-write" });
let count = 0;
const open = (options = {}) =>
  openSession(
    { manager: world.manager, directory: () => workspace },
    {},
    { manager, workingDir: workspace, id: `s${++count}`, ...options },
  );

afterEach(async () => {
  await Promise.all(manager.listSessions().map((session) => session.close()));
});

describeSandboxed("a sandboxed session", () => {
  test("keeps variables, functions, directory and options, and is confined", async () => {
    const { run, say, session } = open();
    await say("mkdir -p sub; cd sub; a=1; export b=2; f() { echo f$a$b; }; shopt -s nullglob");
    expect(await say("f; pwd; shopt -q nullglob && echo on")).toBe(`f12\n${workspace}/sub\non`);
    expect(session.cwd).toBe(join(workspace, "sub"));
    const { err, exitCode, confinement } = await run("echo x >~/y; false");
    expect(err).toContain("Read-only file system");
    expect(exitCode).toBe(1);
    expect(confinement).toMatchObject({ driver: "bubblewrap", profile: "workspace-write", network: "none" });
    expect((await run("cat ~/.ssh/id_ed25519")).err).toContain("Permission denied");
  });

  test("gives a background shell its exports and functions; the shell names those that bash cannot restore", async () => {
    const { run, session } = open();
    await run("export V=kept; also() { echo $V; }");
    const whole = await session.start("also; exit 3");
    expect(await whole.wait(20_000)).toBe(3);
    expect(whole).toMatchObject({ remarks: [] });
    expect(whole.getAllOutput()).toBe("kept\n");
    await run("f() { cat <<X\n}\nzz () \n{ \n    :\n}\nX\n}\nzz() { echo zz; }");
    const shell = await session.start("also; echo x >~/y; exit 4");
    expect(await shell.wait(20_000)).toBe(4);
    expect(shell.remarks).toContainEqual(
      expect.stringMatching(/^Not inherited .*: function f, function zz\./),
    );
    expect(shell.getAllOutput()).toMatch(/^kept\n\[stderr\]\n.*Read-only file system\n$/);
  });

  test("has its state completed by a saver inside the sandbox after its bash was killed", async () => {
    const { run, say } = open();
    await say("for ((i = 0; i < 3000; i++)); do declare v$i=$i; done");
    await say("last=kept");
    expect(await run("last=lost; kill -9 $$")).toMatchObject({ exitCode: 137, leftovers: [] });
    const { out, notes } = await run("echo $last$v2999");
    expect(out).toBe("kept2999\n");
    expect(notes.filter((note) => note.startsWith("That state lacks"))).toEqual([]);
  });

  test("is not among the leftovers of its own first command", async () => {
    const mark = new Mark();
    for (let round = 0; round < 10; round++) {
      const number = mark.next();
      const { run } = open();
      const { leftovers } = await run(`sleep ${number} & while [[ $(</proc/$!/comm) != sleep ]]; do :; done`);
      expect(leftovers.map(({ command }) => command)).toEqual([`sleep ${number}`]);
    }
  });

  // Simulate a wraparound of PIDs: omit the list of PIDs from before the command.
  test("is not among the leftovers of a command during which PIDs wrapped around", async () => {
    const number = new Mark().next();
    const { run } = open();
    const { leftoverShell } = await run(
      `sleep ${number} & while [[ $(</proc/$!/comm) != sleep ]]; do :; done`,
    );
    const started = leftoverShell?.started as StartedShell;
    const which = { pidsBefore: NO_PIDS, number: 1, output: { isHeldBy: () => false } };
    // Retry: on a busy machine, a fork of bash may still be saving the state after the command.
    await eventually(async () => {
      const { processes } = await leftoversOfCommand({ leftoversOf: findLeftovers }, started, which);
      expect(processes.map(({ command }) => command)).toEqual([`sleep ${number}`]);
    });
  });

  test("continues after one of its bash processes has ended", async () => {
    const { run } = open();
    const { leftoverShell } = await run(`sleep ${new Mark().next()} & exit`);
    const { pid, startTime } = leftoverShell?.started.sandbox ?? { pid: 0, startTime: "" };
    expect(isSameProcess(pid, startTime)).toBe(true);
  });

  test("hides its own records and the records of other sessions from its commands", async () => {
    const { say } = open();
    const seen = await say(`find '${home}/state' -type f 2>/dev/null || true`);
    expect(seen).toMatch(/^(\S+\/(scratch\/state\.[01]|scripts\/(supervisor|pipe)\.sh)\n?)+$/);
  });

  test("keeps its state, its jobs and its temporary files when its bash exits", async () => {
    const mark = new Mark();
    const { run, say } = open();
    const number = mark.next();
    await run(`x=kept; echo tmp >/tmp/file; sleep ${number} & disown`);
    const { exitCode, restarted } = await run("exit 3");
    expect({ exitCode, restarted }).toEqual({ exitCode: 3, restarted: true });
    expect(await say("echo $x; cat /tmp/file; pgrep -fc 'sleep [0-9]'")).toBe("kept\ntmp\n1");
    expect(mark.processes()).toHaveLength(1);
    // The bash after that one starts in the same sandbox, too.
    expect((await run("kill -KILL $$")).outcome).toMatchObject({ kind: "signaled", signal: "SIGKILL" });
    expect(await say("cat /tmp/file")).toBe("tmp");
  });

  test("names the leftovers of a command, and their late output appears in no other result", async () => {
    const { run, say } = open();
    const { leftovers } = await run("(read -t 1000 <> <(:); echo LATE) & sleep 1000 & echo now");
    expect(leftovers.length).toBeGreaterThan(0);
    expect(await say("echo next")).toBe("next");
  });

  test("ends a command and everything it started at the timeout, and continues", async () => {
    const mark = new Mark();
    const { run, say } = open();
    await say("x=kept");
    const { outcome, out } = await run(`echo begun; setsid sleep ${mark.next()} & sleep ${mark.next()}`, {
      timeoutMs: 300,
    });
    expect(outcome).toMatchObject({ kind: "timedOut", afterMs: 300 });
    expect(out).toBe("begun\n");
    expect(mark.processes()).toEqual([]);
    expect(await say("echo $x")).toBe("kept");
  });

  test("can be interrupted in the same way as without a sandbox", async () => {
    const { session, run, say } = open();
    const ended = run("trap 'echo caught' INT; echo ready; sleep 1000; echo after");
    await eventually(async () => expect(await session.interrupt()).toBe(true));
    const { outcome } = await ended;
    expect(outcome?.kind).toBe("aborted");
    expect(await say("echo alive")).toBe("alive");
  });

  test("gets a new sandbox if a command continues in the background, and this command becomes a shell", async () => {
    const { run, say } = open();
    await say("x=kept");
    const command = "echo begun; until [[ -e go ]]; do read -t 0.02 <> <(:); done; echo x >~/no; exit 4";
    const { shell } = await run(command, { timeoutMs: 200, onTimeout: "background" });
    expect(shell?.isRunning).toBe(true);
    expect(await say("echo $x; touch go")).toBe("kept");
    await shell?.wait(10_000);
    expect(shell?.exitCode).toBe(4);
    expect(shell?.getAllOutput()).toMatch(/^begun\n\[stderr\]\n.*Read-only/);
    expect(shell?.confinement?.profile).toBe("workspace-write");
  });

  test("a command that continues in the background can be killed", async () => {
    const mark = new Mark();
    const { run } = open();
    const { shell } = await run(`sleep ${mark.next()}`, { timeoutMs: 100, onTimeout: "background" });
    const report = await shell?.kill({ graceMs: 100 });
    expect(report?.survivors).toEqual([]);
    expect(mark.processes()).toEqual([]);
    expect(shell?.status).toBe("killed");
  });

  test("starts background shells with its state, each in a separate sandbox", async () => {
    const { session, say } = open();
    await say("export x=1; f() { echo f$x; }; cd /; cd -");
    const shell = await session.start("f; pwd; echo y >~/z");
    await shell.wait(10_000);
    expect(shell.getAllOutput()).toMatch(new RegExp(`^f1\\n${workspace}\\n\\[stderr\\]\\n.*Read-only`));
    expect(shell.confinement?.driver).toBe("bubblewrap");
  });

  test("still confines a command that changes its directory", async () => {
    const { run, session, say } = open();
    await say(`cd '${outside}'`);
    await run("exit 1");
    expect((await run("pwd; echo x >y")).err).toContain("Read-only");
    const shell = await session.start("echo x >y");
    await shell.wait(10_000);
    expect(shell.getAllOutput()).toContain("Read-only");
    expect(existsSync(join(outside, "y"))).toBe(false);
  });

  test("lets commands work in its own /tmp, and a new bash can start there", async () => {
    const { run, say } = open();
    await say("mkdir /tmp/deep; cd /tmp/deep");
    await run("exit 1");
    expect(await say("pwd")).toBe("/tmp/deep");
  });

  test("does not read a saved state that a command has replaced by a link or a fifo", async () => {
    const { run, say, session } = open();
    const inside = `'${home}'/state/shells/*/scratch`;
    await say("x=1");
    await run(
      `cd ${inside}; rm -f state.*; ln -s ~/.netrc state.0; mkfifo state.1; cd '${workspace}'; exit 2`,
    );
    expect((await run("echo alive")).out).toBe("alive\n");
    expect((await session.close()).survivors).toEqual([]);
  });

  test("has a loopback interface on which one command reaches another command's server", async () => {
    const { run, say } = open();
    const node = process.execPath;
    await run(
      `'${node}' -e 'require("http").createServer((q, s) => s.end("served")).listen(8123, "127.0.0.1", () => console.log("up"))' >log & until grep -q up log; do read -t 0.02 <> <(:); done`,
    );
    expect(
      await say(`'${node}' -e 'fetch("http://127.0.0.1:8123").then((r) => r.text()).then(console.log)'`),
    ).toBe("served");
  });

  test("ends quickly with everything in it, and leaves no fifos behind", async () => {
    const mark = new Mark();
    const { run, session } = open();
    await run(`sleep ${mark.next()} & setsid sleep ${mark.next()} &`);
    const began = performance.now();
    const { survivors } = await session.close();
    expect(survivors).toEqual([]);
    expect(mark.processes()).toEqual([]);
    expect(performance.now() - began).toBeLessThan(60_000);
    const keepers = join(home, "state/keepers");
    await eventually(() => {
      const fifos = readdirSync(keepers)
        .flatMap((name) => readdirSync(join(keepers, name)))
        .filter((name) => /^in/.test(name));
      expect(fifos).toEqual([]);
    });
  });
});

mkdirSync(join(workspace, "x"), { recursive: true });
symlinkSync(outside, join(workspace, "x/out"));
