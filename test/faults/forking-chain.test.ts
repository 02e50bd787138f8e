// A forking chain: each process forks one child and exits. The chain is faster than any scan of /proc, but a
// kill still ends it.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lastPid } from "../../src/engine/last-pid.ts";
import { atFullSpeed, Chain, type ChainLanguage } from "../fixtures/chain.ts";
import { useHosts } from "../fixtures/host-program.ts";
import { isLong } from "../fixtures/long.ts";
import { openSession } from "../fixtures/sessions.ts";
import { useShells } from "../fixtures/shells.ts";

const shells = useShells();
const { manager, directory, run } = shells;
const startHost = useHosts();

/** Longer than any kill: a kill has a deadline of 5 s, and returns at most 2 s later. */
const ANSWER_MAX_MS = 10_000;

const KINDS: readonly [ChainLanguage, boolean][] = [
  ["perl", false],
  ["perl", true],
  ["bash", false],
  ["bash", true],
];

describe.each(KINDS)("a forking chain in %s (a new session for every link: %s)", (language, setsid) => {
  test("is dead when the kill has returned", async () => {
    const chain = new Chain(directory(), language, { setsid });
    const shell = await manager().createShell({ command: `${chain.command}; sleep 300`, workingDir: "/" });
    await atFullSpeed(lastPid);
    const before = performance.now();
    const report = await shell.kill({ graceMs: 0 });
    expect(performance.now() - before).toBeLessThan(ANSWER_MAX_MS);
    expect(report.survivors).toEqual([]);
    expect(shell.status).toBe("killed");
    await chain.ended;
  });

  test("that outlives its command is found as a leftover, and is dead when the kill has returned", async () => {
    const chain = new Chain(directory(), language, { setsid });
    const shell = await run(manager(), `(${chain.command}) >/dev/null 2>&1 & exit 3`);
    await atFullSpeed(lastPid);
    expect((await shell.leftovers()).length).toBeGreaterThan(0);
    expect((await shell.kill({ graceMs: 0 })).survivors).toEqual([]);
    await chain.ended;
    expect(shell.outcome).toEqual({ kind: "exited", code: 3 });
  });
});

test("several forking chains are dead when the kill has returned, or soon after it reports them", async () => {
  const dir = directory();
  const chains = Array.from({ length: 6 }, (_, index) => new Chain(dir, "perl", { setsid: index % 2 === 0 }));
  const command = `${chains.map((chain) => `(${chain.command}) &`).join("\n")}\nsleep 300`;
  const shell = await manager().createShell({ command, workingDir: "/" });
  await atFullSpeed(lastPid, 1_000);
  const { survivors, unverified } = await shell.kill({ graceMs: 0 });
  // On a busy machine, PID 1 reaps late. Each scan then reads thousands of zombies, and the kill reaches its deadline.
  if (!unverified) expect(survivors).toEqual([]);
  await Promise.all(chains.map((chain) => chain.ended));
});

test("a forking chain without tags is dead when the kill has returned", async () => {
  const chain = new Chain(directory(), "perl", { setsid: true });
  const untagged = manager({ containment: "best-effort" });
  const shell = await untagged.createShell({ command: `${chain.command}; sleep 300`, workingDir: "/" });
  await atFullSpeed(lastPid);
  expect((await shell.kill({ graceMs: 0 })).survivors).toEqual([]);
  await chain.ended;
});

test("a forking chain ends with its host", async () => {
  const dir = directory();
  const chain = new Chain(dir, "perl", { setsid: true });
  const commands = [`echo ready; ${chain.command}; sleep 300`];
  const host = await startHost({ options: { stateRoot: join(dir, "state") }, commands }, dir);
  await atFullSpeed(lastPid);
  host.child.kill("SIGKILL");
  await host.exited;
  await chain.ended;
});

test("a session whose command is a forking chain returns at its timeout, and runs the next command", async () => {
  const { run, say, dir } = openSession(shells);
  const chain = new Chain(dir, "perl", { setsid: true });
  const before = performance.now();
  const result = await run(`${chain.command}; sleep 300`, { timeoutMs: 500 });
  expect(performance.now() - before).toBeLessThan(500 + ANSWER_MAX_MS);
  expect(result.outcome).toMatchObject({ kind: "timedOut" });
  await chain.ended;
  expect(await say("echo next")).toBe("next");
});

test("a forking chain is dead when the cancel of its command has returned", async () => {
  const { run, dir } = openSession(shells);
  for (let time = 0; time < (isLong ? 8 : 2); time++) {
    const chain = new Chain(dir, "python3", { setsid: time % 2 === 0 });
    const cancel = new AbortController();
    const result = run(`${chain.command}; sleep 300`, { signal: cancel.signal });
    await atFullSpeed(lastPid);
    cancel.abort();
    expect((await result).outcome).toMatchObject({ kind: "aborted" });
    await chain.ended;
  }
}, 120_000);
