// Several sessions run in parallel, up to a limit, and are found by id and scope. Shells can be started from
// them.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isAlive } from "../fixtures/processes.ts";
import { openSession, said } from "../fixtures/sessions.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();

test("the calls of one session run one at a time in order, and a waiting call is notified", async () => {
  const { session } = openSession(shells);
  const waits: [number, number][] = [];
  const runs = Array.from({ length: 8 }, (_, i) =>
    session.run(`[ ! -e busy ] && touch busy; sleep 0.01; rm busy; n=$((n + 1)); echo ${i} $n`, {
      onWait: (before) => waits.push([i, before]),
    }),
  );
  const results = (await Promise.all(runs)).map(said);
  expect(results.map(({ out }) => out)).toEqual(results.map((_, i) => `${i} ${i + 1}\n`));
  expect(results.every(({ exitCode, err }) => exitCode === 0 && err === "")).toBe(true);
  expect(waits).toEqual([1, 2, 3, 4, 5, 6, 7].map((i) => [i, i]));
});

test("different sessions run in parallel and share nothing", async () => {
  const manager = shells.manager({ killGraceMs: 300 });
  const dir = shells.directory();
  const [a, b] = ["a", "b"].map((id) => openSession(shells, {}, { manager, id, workingDir: dir }));
  if (!a || !b) throw new Error("unreachable");
  const first = a.run("x=a; touch a; while [ ! -e b ]; do sleep 0.01; done; echo $x");
  const second = b.run("x=b; touch b; while [ ! -e a ]; do sleep 0.01; done; echo $x");
  expect((await first).out).toBe("a\n");
  expect((await second).out).toBe("b\n");
});

test("sessions are found by id and scope, and listed", async () => {
  const manager = shells.manager({ killGraceMs: 300 });
  const workingDir = shells.directory();
  const session = manager.session("one", { workingDir });
  expect(manager.session("one", { workingDir: "/" })).toBe(session);
  const other = manager.session("one", { workingDir, scope: "s" });
  expect(other).not.toBe(session);
  expect(manager.listSessions()).toEqual([session, other]);
  expect(manager.listSessions({ scope: "s" })).toEqual([other]);
  expect([session.scope, other.scope]).toEqual(["default", "s"]);
  await session.run("x=1");
  await session.close();
  expect(manager.listSessions()).toEqual([other]);
  expect(said(await manager.session("one", { workingDir }).run(`echo \${x-new}`)).out).toBe("new\n");
  expect(() => manager.session("bad", { workingDir: join(workingDir, "none") })).toThrow("does not exist");
});

test("above the limit, the session that was idle longest loses its bash, but keeps its state and jobs", async () => {
  const manager = shells.manager({ killGraceMs: 300, maxSessions: 2 });
  const dir = shells.directory();
  const [a, b, c] = ["a", "b", "c"].map((id) => openSession(shells, {}, { manager, id, workingDir: dir }));
  if (!a || !b || !c) throw new Error("unreachable");
  const job = Number(
    (await a.run("mkdir sub; cd sub; x=1; f() { echo f; }; sleep 300 >/dev/null 2>&1 & echo $!")).out,
  );
  await b.run("true");
  await c.run("true");
  expect([a, b, c].map(({ session }) => session.hasBash)).toEqual([false, true, true]);
  expect(isAlive(job)).toBe(true);
  expect(await a.say("basename $PWD; echo $x; f")).toBe("sub\n1\nf");
  expect([a, b, c].map(({ session }) => session.hasBash)).toEqual([true, false, true]);
  await a.session.close();
  await eventually(() => expect(isAlive(job)).toBe(false));
});

test("a session over the limit is refused while all others are busy", async () => {
  const manager = shells.manager({ killGraceMs: 300, maxSessions: 1 });
  const dir = shells.directory();
  const a = openSession(shells, {}, { manager, id: "a", workingDir: dir });
  const b = openSession(shells, {}, { manager, id: "b", workingDir: dir });
  const running = a.run("touch ready; while [ ! -e go ]; do sleep 0.01; done");
  await eventually(() => expect(existsSync(join(dir, "ready"))).toBe(true));
  await expect(b.run("true")).rejects.toMatchObject({ code: "limit_reached" });
  await b.session.start(`touch ${dir}/go`);
  await running;
  expect((await b.run("echo ok")).out).toBe("ok\n");
});

describe("a shell started from a session", () => {
  test("has its directory, exports and functions, and changes nothing in the session", async () => {
    const { session, run, say, dir } = openSession(shells);
    mkdirSync(join(dir, "sub"));
    await run(
      "cd sub; export E=$'a\\nb'; plain=1; f() { echo f $E; }; alias no='echo alias'; unset HOME; shopt -s extglob",
    );
    const shell = await session.start(
      `pwd; f; echo "\${plain-none} \${HOME-none} \${BASH_ENV-none} $ONCE"; shopt -q extglob && echo ext; cd /; E=changed; exit 5`,
      { env: { ONCE: "1" } },
    );
    expect(await shell.wait(10_000)).toBe(5);
    expect(shell.getAllOutput()).toBe(`${join(dir, "sub")}\nf a b\nnone none none 1\next\n`);
    expect(await say(`echo "$E"; pwd; echo \${ONCE-none}`)).toBe(`a\nb\n${join(dir, "sub")}\nnone`);
  });

  test("does not wait for the running command", async () => {
    const { session, run, dir } = openSession(shells);
    await run("export X=saved");
    const running = run("export X=later; touch ready; while [ ! -e go ]; do sleep 0.01; done");
    await eventually(() => expect(existsSync(join(dir, "ready"))).toBe(true));
    const shell = await session.start("echo $X; touch go");
    expect(await shell.wait(10_000)).toBe(0);
    expect(shell.getAllOutput()).toBe("saved\n");
    expect((await running).exitCode).toBe(0);
  });

  test("works before the first command and after bash has exited", async () => {
    const { session, run } = openSession(shells);
    const first = await session.start("echo first");
    await first.wait(10_000);
    expect(first.getAllOutput()).toBe("first\n");
    await run("export A=1");
    await run("exit 3");
    const second = await session.start("echo $A");
    await second.wait(10_000);
    expect(second.getAllOutput()).toBe("1\n");
  });
});

test("restart ends everything, and the session starts in its original directory with clean state", async () => {
  const { session, run, say, dir } = openSession(shells);
  const job = Number((await run("mkdir sub; cd sub; x=1; sleep 300 >/dev/null 2>&1 & echo $!")).out);
  const running = session.run("touch ready; sleep 300");
  await eventually(() => expect(existsSync(join(dir, "sub", "ready"))).toBe(true));
  expect((await session.restart()).survivors).toEqual([]);
  expect(await running).toMatchObject({
    outcome: { kind: "killed", by: "restart()" },
    restarted: true,
    notes: [expect.stringContaining("with clean state")],
  });
  expect(isAlive(job)).toBe(false);
  expect(await say(`echo \${x-none}; pwd`)).toBe(`none\n${dir}`);
});

test("the result of a command whose session was closed does not mention a new bash", async () => {
  const { session, dir } = openSession(shells);
  const running = session.run("touch ready; sleep 300");
  await eventually(() => expect(existsSync(join(dir, "ready"))).toBe(true));
  await session.close();
  expect(await running).toMatchObject({ outcome: { kind: "killed" }, restarted: false, notes: [] });
});

test("restart does not wait for queued commands, and resets the directory of the last call", async () => {
  const { session, run, dir } = openSession(shells);
  const other = shells.directory();
  await run("true", { workingDir: other });
  const running = session.run("touch ready; sleep 300", { workingDir: other });
  const waiting = session.run(`echo \${x-none}; pwd; x=1`, { workingDir: other });
  await eventually(() => expect(existsSync(join(other, "ready"))).toBe(true));
  await session.restart();
  expect((await running).outcome).toMatchObject({ kind: "killed" });
  expect(said(await waiting).out).toBe(`none\n${other}\n`);
  expect((await run("pwd", { workingDir: dir })).out).toBe(`${dir}\n`);
});

test("disposing the manager kills the running command of a session that was not closed", async () => {
  const { session, manager } = openSession(shells);
  const running = session.run("sleep 300");
  await eventually(() => expect(session.hasBash).toBe(true));
  await manager.dispose();
  expect((await running).outcome).toMatchObject({ kind: "killed" });
});
