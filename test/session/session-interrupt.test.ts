// An interrupt, an abort signal or a timeout ends the running command. The session continues.
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { RunOptions } from "../../src/session/session-options.ts";
import { isAlive } from "../fixtures/processes.ts";
import { openSession, type SaidResult, said, type TestSession } from "../fixtures/sessions.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells({ shareManager: true });

/**
 * Starts a command and waits until it has created the file "ready". Returns a function that waits for the
 * result. The program that creates the file must not end before the interrupt: bash drops an INT while it
 * reaps a child.
 */
async function begin(
  { session, dir }: TestSession,
  command: string,
  options: RunOptions = {},
): Promise<() => Promise<SaidResult>> {
  const running = session.run(command, options).then(said);
  await eventually(() => expect(existsSync(`${dir}/ready`)).toBe(true));
  return () => running;
}

/** On a busy machine, a command may need this long to react to a signal. */
const LONG_GRACE = { killGraceMs: 20_000 };

describe("an interrupt", () => {
  test("ends the whole command line, and keeps its output and the state from before the command", async () => {
    const opened = openSession(shells, LONG_GRACE);
    await opened.run("x=kept");
    const result = await begin(opened, "x=lost; echo begun; sh -c 'touch ready; exec sleep 300'; echo after");
    expect(await opened.session.interrupt()).toBe(true);
    const ended = await result();
    expect(ended).toMatchObject({ exitCode: 130, outcome: { kind: "aborted", code: 130 }, out: "begun\n" });
    expect(await opened.say("echo $x")).toBe("kept");
  });

  test("lets INT traps run, and does not replace bash if a trap handles the signal", async () => {
    const opened = openSession(shells, LONG_GRACE);
    await opened.run("trap 'echo interrupted' INT; x=kept");
    // Let the child create the file: bash would get another INT for each child that starts later.
    const result = await begin(opened, "x=changed; sh -c 'touch ready; exec sleep 300'; echo after");
    await opened.session.interrupt();
    expect(await result()).toMatchObject({
      outcome: { kind: "aborted" },
      out: "interrupted\nafter\n",
      restarted: false,
    });
    expect(await opened.say("echo $x")).toBe("changed");
  });

  test("ends a program even if its process received the signal before exec", async () => {
    const opened = openSession(shells, LONG_GRACE);
    const result = await begin(
      opened,
      "bash -c 'trap : INT; touch ready; sleep 300; exec sleep 301'; echo after",
    );
    await opened.session.interrupt();
    expect(await result()).toMatchObject({ outcome: { kind: "aborted", code: 130 }, out: "" });
  });

  test("ends a busy loop, a stopped command and a command that ignores the signal", async () => {
    for (const command of [
      "touch ready; while :; do :; done",
      "touch ready; kill -STOP $$",
      "trap '' INT TERM; touch ready; while :; do sleep 1; done",
    ]) {
      const opened = openSession(shells);
      const result = await begin(opened, command);
      await opened.session.interrupt();
      expect((await result()).outcome).toMatchObject({ kind: "aborted" });
      expect(await opened.say("echo usable")).toBe("usable");
    }
  });

  test("ends the jobs of the interrupted command, but not the jobs of earlier commands", async () => {
    const opened = openSession(shells);
    const earlier = Number(
      (await opened.run("node -e 'setInterval(() => {}, 1e6)' >/dev/null 2>&1 & echo $!")).out,
    );
    const result = await begin(opened, "setsid sleep 301 & echo $!; touch ready; sleep 302");
    await opened.session.interrupt();
    const own = Number((await result()).out);
    expect(isAlive(earlier)).toBe(true);
    await eventually(() => expect(isAlive(own)).toBe(false));
    expect(await opened.run(`kill ${earlier}`)).toMatchObject({ exitCode: 0 });
  });

  test("does nothing in an idle session", async () => {
    const opened = openSession(shells);
    expect(await opened.session.interrupt()).toBe(false);
    await opened.run("true");
    expect(await opened.session.interrupt()).toBe(false);
    expect(await opened.say("echo same $$")).toMatch(/^same \d+$/);
  });
});

describe("an abort signal", () => {
  test("interrupts the command", async () => {
    const opened = openSession(shells, LONG_GRACE);
    const abort = new AbortController();
    const result = await begin(opened, "echo a; sh -c 'touch ready; exec sleep 300'", {
      signal: abort.signal,
    });
    abort.abort();
    expect(await result()).toMatchObject({ outcome: { kind: "aborted", code: 130 }, out: "a\n" });
    expect(await opened.say("echo usable")).toBe("usable");
  });

  test("removes a waiting call from the queue", async () => {
    const opened = openSession(shells);
    const abort = new AbortController();
    const first = opened.session.run("sleep 0.2; echo first");
    const second = opened.session.run("touch second", { signal: abort.signal });
    const third = opened.session.run("echo third");
    abort.abort();
    await expect(second).rejects.toMatchObject({ code: "aborted" });
    expect(said(await first).out).toBe("first\n");
    expect(said(await third).out).toBe("third\n");
    expect(existsSync(`${opened.dir}/second`)).toBe(false);
    await expect(opened.run("true", { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "aborted",
    });
  });
});

describe("a timeout", () => {
  test("ends everything that the command started, and keeps its output", async () => {
    const opened = openSession(shells);
    const earlier = Number((await opened.run("x=1; sleep 300 >/dev/null 2>&1 & echo $!")).out);
    const result = await opened.run(
      "x=2; echo begun; setsid sleep 301 & echo $!; yes | sleep 302; echo after",
      {
        timeoutMs: 300,
      },
    );
    expect(result.outcome).toMatchObject({ kind: "timedOut", afterMs: 300 });
    const [begun, own] = result.out.split("\n");
    expect(begun).toBe("begun");
    expect(result).toMatchObject({ restarted: true, err: "" });
    expect(isAlive(Number(own))).toBe(false);
    expect(isAlive(earlier)).toBe(true);
    expect(await opened.say("echo $x")).toBe("1");
  });

  test("is the outcome even if a TERM trap lets the command end normally", async () => {
    // bash survives TERM, so the kill waits for the whole grace period.
    const opened = openSession(shells, { killGraceMs: 5_000 });
    await opened.run("x=before");
    const result = await opened.run("trap 'echo told' TERM; x=lost; cd /; sleep 300; echo after", {
      timeoutMs: 300,
    });
    expect(result).toMatchObject({
      outcome: { kind: "timedOut", afterMs: 300 },
      out: "told\nafter\n",
      restarted: true,
      cwdChanged: false,
      notes: [expect.stringContaining("bash ended with this command")],
    });
    expect(result.exitCode).not.toBe(0);
    expect(await opened.say("echo $x; pwd")).toBe(`before\n${opened.dir}`);
  });

  test("ends bash even if it has not read the command yet", async () => {
    const opened = openSession(shells);
    const pid = Number(await opened.say("echo $$"));
    process.kill(pid, "SIGSTOP");
    const result = await opened.run("echo begun", { timeoutMs: 100 });
    expect(result).toMatchObject({ outcome: { kind: "timedOut", afterMs: 100 }, out: "", restarted: true });
    expect(isAlive(pid)).toBe(false);
    expect(await opened.say("echo on")).toBe("on");
  });

  test("is measured from the command's start, not from the call", async () => {
    const opened = openSession(shells);
    const first = opened.session.run("sleep 0.6; echo first");
    const waits: number[] = [];
    const second = opened.session.run("sleep 0.01; echo second", {
      timeoutMs: 500,
      onWait: (before) => waits.push(before),
    });
    expect(said(await first).out).toBe("first\n");
    expect(said(await second)).toMatchObject({ out: "second\n", exitCode: 0 });
    expect(waits).toEqual([1]);
  });

  test("with onTimeout: background turns the command into a shell, and the session stays usable", async () => {
    const opened = openSession(shells);
    await opened.run("x=1; mkdir sub; echo noise; echo noise >&2");
    const result = await opened.run(
      "x=2; cd sub; echo one; echo err >&2; while [ ! -e ../go ]; do sleep 0.02; done; echo two; (exit 7)",
      { timeoutMs: 300, onTimeout: "background" },
    );
    expect(result).toMatchObject({
      exitCode: null,
      outcome: undefined,
      out: "one\n",
      err: "err\n",
      cwd: opened.dir,
    });
    const { shell } = result;
    if (!shell) throw new Error("no shell");
    expect(result.notes).toEqual([expect.stringContaining(shell.id)]);
    expect(opened.manager.getShell(shell.id)).toBe(shell);
    // A second manager simulates another process, which sees only the state on disk.
    const elsewhere = shells.manager({ stateRoot: opened.manager.root.path }).find(shell.id);
    expect(elsewhere).toMatchObject({ command: result.command, isRunning: true });
    expect(elsewhere?.getAllOutput()).toBe("one\n[stderr]\nerr\n");
    expect(shell).toMatchObject({ isRunning: true, command: result.command });
    expect(await opened.say("echo $x; touch go")).toBe("1");
    expect(await shell.wait(10_000)).toBe(7);
    expect(shell.getAllOutput()).toBe("one\ntwo\n[stderr]\nerr\n");
    expect(shell.getNewOutput()).toBe("one\ntwo\n[stderr]\nerr\n");
    expect(shell.status).toBe("failed");
    expect(await opened.say("echo $x")).toBe("1");
  });

  test("with onTimeout: background turns the command into a shell that can be killed", async () => {
    const opened = openSession(shells);
    const { shell } = await opened.run("setsid sleep 300 & sleep 301", {
      timeoutMs: 100,
      onTimeout: "background",
    });
    expect((await shell?.kill())?.survivors).toEqual([]);
    expect(shell?.status).toBe("killed");
    expect(await opened.say("echo usable")).toBe("usable");
  });
});
