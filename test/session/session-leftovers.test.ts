// A command's result names its leftovers. They keep running, and they never print into the output of another
// command.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { NO_PIDS } from "../../src/engine/pids-since.ts";
import type { StartedShell } from "../../src/engine/started-shell.ts";
import { leftoversOfCommand } from "../../src/session/command-processes.ts";
import { isAlive } from "../fixtures/processes.ts";
import { bytesOf, openSession } from "../fixtures/sessions.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells({ shareManager: true });

/** After `sleep N &`, waits until the fork has executed `sleep`. Until then, its name is bash. */
const WAIT_FOR_EXEC = "until read -r name </proc/$!/comm; [[ $name == sleep ]]; do :; done";

test("a command returns without waiting for its leftovers, and the result names them", async () => {
  const { run } = openSession(shells);
  const result = await run(`sleep 300 & ${WAIT_FOR_EXEC}; echo started`);
  expect(result).toMatchObject({ exitCode: 0, out: "started\n" });
  expect(result.leftovers).toEqual([{ pid: expect.any(Number), command: "sleep 300" }]);
  expect((await run("echo next")).leftovers).toEqual([]);
});

test("the result names a leftover even if the leftover has no command number", async () => {
  const child = spawn("sleep", ["300"], { stdio: "ignore" });
  onTestFinished(() => void child.kill());
  await once(child, "spawn");
  const { manager, run } = openSession(shells, { containment: "best-effort" });
  const { leftoverShell } = await run(`sleep 300 & ${WAIT_FOR_EXEC}; exit`);
  expect(manager.containment).toBe("best-effort");
  const bash = leftoverShell?.started as StartedShell;
  const found = { pid: child.pid ?? -1, startTime: "", group: 1, command: "sleep 300" };
  const which = { pidsBefore: NO_PIDS, number: 7, output: { isHeldBy: () => false } };
  const { processes } = await leftoversOfCommand({ leftoversOf: async () => [found] }, bash, which);
  expect(processes).toEqual([found]);
});

test("the result of a command that ends bash names the leftovers, which can then be killed", async () => {
  const { run } = openSession(shells);
  const result = await run(`sleep 300 & ${WAIT_FOR_EXEC}; echo $!; exit 3`);
  const pid = Number(result.out);
  expect(result).toMatchObject({ exitCode: 3, restarted: true, leftovers: [{ pid, command: "sleep 300" }] });
  expect(result.leftoverShell).toMatchObject({ exitCode: 3, isRunning: false, command: result.command });
  expect(await result.leftoverShell?.kill()).toMatchObject({ survivors: [] });
  await eventually(() => expect(isAlive(pid)).toBe(false));
});

test("the leftovers of one command can be killed separately, and have separate output", async () => {
  const { run, manager } = openSession(shells);
  await run("echo noise");
  const quiet = await run("sleep 300 >/dev/null 2>&1 & echo quiet $!");
  const loud = await run("sleep 301 & echo loud $!");
  await run("echo noise");
  expect(quiet.leftoverShell?.getAllOutput()).toBe(quiet.out);
  expect(loud.leftoverShell?.getAllOutput()).toBe(loud.out);
  expect(manager.getShell(quiet.leftoverShell?.id ?? "")).toBe(quiet.leftoverShell);
  const [quietPid, loudPid] = [quiet, loud].map(({ out }) => Number(out.split(" ")[1]));
  const { signalled, survivors } = (await quiet.leftoverShell?.kill()) ?? {};
  expect([signalled?.map(({ pid }) => pid), survivors]).toEqual([[quietPid], []]);
  expect(isAlive(loudPid ?? 0)).toBe(true);
  expect(await run("echo same bash")).toMatchObject({ restarted: false });
  if (quiet.leftoverShell) manager.forget(quiet.leftoverShell);
  expect(await run("jobs -r | wc -l")).toMatchObject({ out: "1\n", restarted: false });
});

test.each([
  ["a background job", "read -r <go && echo LATE && touch done &"],
  ["a subshell", "(read -r <go; echo LATE; echo LATE >&2; touch done) &"],
  ["a daemon", "(setsid sh -c 'read -r _ <go; echo LATE; touch done' &)"],
  ["a process with an empty environment", "env -i setsid sh -c 'read -r _ <go; echo LATE; touch done' &"],
])("late output of %s is not in the output of another command", async (_, command) => {
  const { run, dir } = openSession(shells);
  expect(await run(`mkfifo go; echo first; ${command}`)).toMatchObject({ out: "first\n" });
  // Opening the fifo for writing blocks until the leftover opens it for reading.
  expect(await run("echo now >go")).toMatchObject({ out: "", err: "", exitCode: 0 });
  for (let round = 0; !existsSync(join(dir, "done")) || round < 3; round++) {
    expect(await run(`echo ${round}; sleep 0.02`)).toMatchObject({ out: `${round}\n`, err: "" });
  }
});

test("a flood of late output neither slows the next commands nor mixes with their output", async () => {
  const { run } = openSession(shells, { capBytes: 64 * 1024 ** 2 });
  await run("yes & while :; do echo more; done &");
  for (let round = 0; round < 10; round++) {
    expect(await run(`echo ${round}`)).toMatchObject({ out: `${round}\n`, exitCode: 0, restarted: false });
  }
});

test("a leftover with redirected output does not make the session replace its loggers", async () => {
  const { run } = openSession(shells);
  const first = await run("echo a");
  await run("sleep 300 >/dev/null 2>&1 &");
  expect((await run("echo b")).stdout.path).toBe(first.stdout.path);
  await run("sleep 300 &");
  expect((await run("echo c")).stdout.path).not.toBe(first.stdout.path);
});

test("a process that is about to end is not a leftover", async () => {
  const { run, dir } = openSession(shells);
  const tee = await run("seq 2000 > >(tee log)");
  expect(tee.out).toBe(readFileSync(join(dir, "log"), "utf8"));
  expect(tee.leftovers).toEqual([]);
  expect(await run("exec 3> >(cat); echo three >&3; exec 3>&-")).toMatchObject({
    out: "three\n",
    leftovers: [],
  });
});

test("a process that is about to end is not a leftover, even if it gets little CPU time", async () => {
  const busy = spawn("bash", ["-c", "exec taskset -c 0 bash -c 'while :; do :; done'"], { stdio: "ignore" });
  onTestFinished(() => void busy.kill());
  await once(busy, "spawn");
  const { run } = openSession(shells);
  // On a busy CPU, a process with the lowest priority rarely gets CPU time.
  const late = "exec taskset -c 0 nice -n 19 cat";
  for (let round = 0; round < 20; round++) {
    expect(await run(`seq 2000 > >(${late}) 2>/dev/null`)).toMatchObject({ leftovers: [] });
  }
});

test("every byte of a fast command is in that command's result", async () => {
  const { run } = openSession(shells);
  for (let round = 0; round < 200; round++) {
    const { stdout } = await run(`head -c ${round * 37} /dev/zero | tr '\\0' x; printf '%d.' ${round}`);
    expect(bytesOf(stdout).toString()).toBe(`${"x".repeat(round * 37)}${round}.`);
  }
});

test("the output cap is per command, and reaching it ends only that command", async () => {
  const { run } = openSession(shells, { capBytes: 256 * 1024 });
  for (let round = 0; round < 12; round++) {
    expect(await run("head -c 30000 /dev/zero | tr '\\0' y")).toMatchObject({
      exitCode: 0,
      restarted: false,
    });
  }
  const capped = await run(`yes | head -c 1000000; echo \${PIPESTATUS[1]}`);
  expect(capped.notes.join()).toContain("output cap reached");
  expect(capped.stdout.to - capped.stdout.from).toBeLessThanOrEqual(256 * 1024);
  expect(capped.stdout.to - capped.stdout.from).toBeGreaterThanOrEqual(128 * 1024);
  expect(await run("echo after")).toMatchObject({ exitCode: 0, out: "after\n" });
  const bash = await run("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done");
  expect(bash).toMatchObject({ exitCode: 141, restarted: true });
  expect(bash.notes.join()).toContain("output cap reached");
  expect(await run("echo after")).toMatchObject({ exitCode: 0, out: "after\n" });
});

test("a bare wait does not wait for loggers, even after they were replaced", async () => {
  const { run, say } = openSession(shells);
  expect(await say("sleep 0.01 & sleep 0.02 & wait; echo done")).toBe("done");
  await run("sleep 0.3 & disown");
  expect(await say("sleep 0.01 & wait; echo done")).toBe("done");
});

test("closing the session ends the leftovers of all its commands and every bash that it had", async () => {
  const { run, session, manager } = openSession(shells);
  const pids: number[] = [];
  for (const command of [
    "sleep 301 &",
    "setsid sleep 302 &",
    "env -i setsid sleep 303 & exit 3",
    "sleep 304 & kill -9 $$",
  ]) {
    pids.push(Number((await run(`echo $BASHPID; ${command}`)).out));
    pids.push(...(await run("pgrep -g 0 sleep; true")).out.split("\n").filter(Boolean).map(Number));
  }
  const background = await session.start("sleep 305");
  const { survivors } = await session.close();
  expect(survivors).toEqual([]);
  for (const pid of pids) await eventually(() => expect(isAlive(pid)).toBe(false));
  expect(background.isRunning).toBe(false);
  expect(manager.listSessions()).toEqual([]);
});
