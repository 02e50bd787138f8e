// If saving a session's state takes long, a fork of bash, the saver, writes the state while the session
// continues.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { allPids, lockLimits, readStat } from "../../src/engine/process-table.ts";
import { openSession, type TestSession } from "../fixtures/sessions.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();

/** Opens a session with many variables: a save takes long enough for a test to find the saver. */
async function openLarge(variables = 6_000): Promise<TestSession & { readonly pid: number }> {
  const opened = openSession(shells);
  const pid = Number(await opened.say(`echo "$$"`));
  await opened.say(`for ((i = 0; i < ${variables}; i++)); do declare v$i=$i; done; unset i`);
  return { ...opened, pid };
}

/**
 * The savers of this bash's session. They have the session's tag, but no command number. Each leads its process group,
 * unlike the subshell that forks it and unlike its own children.
 */
function saversOf(bash: number): number[] {
  const tag = lockLimits(bash)?.hard ?? "none";
  const isSaver = (pid: number) => {
    const limits = lockLimits(pid);
    const isTagged = limits?.hard === tag && limits.soft === tag;
    return isTagged && readStat(pid)?.group === pid && commandOf(pid).includes("--noprofile");
  };
  return allPids().filter((pid) => pid !== bash && isSaver(pid));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

/** Waits for a saver with a PID other than `before`. */
async function saverOf(bash: number, before = 0): Promise<number> {
  let found: number | undefined;
  await eventually(() => {
    found = saversOf(bash).find((pid) => pid !== before);
    expect(found).toBeDefined();
  });
  return found ?? 0;
}

/** Until it gets a message, adds to `found` every child and grandchild of `bash` whose limit is not `tag`. */
const SPY = `
const { parentPort, workerData: { bash, tag } } = require("node:worker_threads");
const { readFileSync } = require("node:fs");
const found = new Set();
const read = (path) => { try { return readFileSync(path, "latin1"); } catch { return ""; } };
const children = (pid) => read(\`/proc/\${pid}/task/\${pid}/children\`).split(" ").filter(Boolean);
parentPort.once("message", () => { clearInterval(timer); parentPort.postMessage([...found]); });
const timer = setInterval(() => {
  for (const end = Date.now() + 20; Date.now() < end; )
    for (const pid of children(bash).flatMap((at) => [at, ...children(at)])) {
      const soft = /^Max file locks +(\\S+)/m.exec(read(\`/proc/\${pid}/limits\`))?.[1];
      if (soft !== undefined && soft !== tag) found.add(soft);
    }
});
parentPort.postMessage("ready");`;

async function killBash({ session, pid }: { session: TestSession["session"]; pid: number }): Promise<void> {
  process.kill(pid, "SIGKILL");
  await eventually(() => expect(session.hasBash).toBe(false));
}

test("a stopped saver does not delay the next command, and each new saver ends the previous saver", async () => {
  const { say, pid } = await openLarge();
  for (const word of ["one", "two", "three"]) {
    const saver = await saverOf(pid);
    process.kill(saver, "SIGSTOP");
    expect(await say(`x=${word}; echo $x$v5999`)).toBe(`${word}5999`);
    await eventually(() => expect(saversOf(pid)).not.toContain(saver));
  }
});

test("no saver has the number of a command, so KillShell cannot end it as a leftover", async () => {
  const { say, pid } = await openLarge(3_000);
  const spy = new Worker(SPY, { eval: true, workerData: { bash: pid, tag: lockLimits(pid)?.hard } });
  await once(spy, "message");
  // The commands fork nothing, so every process below bash is a saver.
  for (let n = 0; n < 50; n++) await say(":");
  spy.postMessage("end");
  expect(await once(spy, "message")).toEqual([[]]);
  await spy.terminate();
});

test("if bash is killed during a save, the saver completes the save, and nothing is lost", async () => {
  const opened = await openLarge();
  const { say, run, pid } = opened;
  const first = await saverOf(pid);
  await say("last=kept; f() { echo $last; }");
  await saverOf(pid, first);
  await killBash(opened);
  const { out, notes } = await run("f; echo $v0 $v5999");
  expect(out).toBe("kept\n0 5999\n");
  expect(notes).toEqual([expect.stringContaining("bash had ended")]);
});

test("after each of several commands that end bash, the state from before that command is restored", async () => {
  const { say, run } = await openLarge(1_500);
  for (let n = 1; n <= 3; n++) {
    await say(`last=${n}`);
    const { exitCode, notes } = await run("last=lost; exit 3");
    expect(exitCode).toBe(3);
    expect(notes).toEqual([expect.stringContaining("ended with this command")]);
    expect(await say("echo $last$v1499")).toBe(`${n}1499`);
  }
});

test("if bash and the saver are both killed, an older state is restored, and a note names the lost changes", async () => {
  const opened = await openLarge();
  const { say, run, session, pid } = opened;
  await session.save();
  await say("last=lost");
  process.kill(await saverOf(pid), "SIGKILL");
  await killBash(opened);
  const { out, notes } = await run("echo $v5999-$last");
  expect(out).toBe("5999-\n");
  expect(notes).toContain(
    "That state lacks the changes of the command before this one, because they could not be saved (the process that saved them ended early).",
  );
});

test("if only the saver is killed, nothing is lost, because bash saves the next state itself", async () => {
  const opened = await openLarge();
  const { say, session, pid } = opened;
  await say("x=1");
  process.kill(await saverOf(pid), "SIGKILL");
  await eventually(() => expect(saversOf(pid)).toEqual([]));
  await say("y=2");
  await session.save();
  await killBash(opened);
  expect((await opened.run("echo $x$y$v5999")).out).toBe("125999\n");
});

test("jobs, wait and $! do not show the saver, and no result reports it as a leftover", async () => {
  const { say, run, pid } = await openLarge();
  await saverOf(pid);
  expect(await say(`jobs; wait -n; echo "$? [$!]"`)).toBe("127 []");
  await saverOf(pid);
  const { out, leftovers } = await run("sleep 1000 & echo $!");
  const job = Number(out);
  expect(leftovers.map((leftover) => leftover.pid)).toEqual([job]);
  await saverOf(pid);
  expect(await say(`jobs -p; echo $!; set -m; set +m`)).toBe(`${job}\n${job}`);
  await saverOf(pid);
  expect(await say(`jobs -p; kill $!; wait $! 2>/dev/null; echo $?; jobs`)).toBe(`${job}\n143`);
  const after = await run("wait; echo $?");
  expect(after).toMatchObject({ out: "0\n", leftovers: [] });
});

test("a trap on CHLD does not run for a save", async () => {
  const { say, pid } = await openLarge();
  await say("n=0; trap 'n=$((n + 1))' CHLD");
  for (let k = 0; k < 3; k++) await say(":");
  expect(await say("echo $n")).toBe("0");
  expect(saversOf(pid)).toEqual([]);
  await say("trap - CHLD");
  await saverOf(pid);
});

test("the saver has no file descriptor of the session open, so a lock that a command releases is free", async () => {
  const { say, pid, dir } = await openLarge();
  await say(`exec 7>lock 12>&7; flock 7; exec 8>&1`);
  const saver = await saverOf(pid);
  process.kill(saver, "SIGSTOP");
  expect(await say(`exec 7>&- 12>&-; flock -n ${dir}/lock echo free`)).toBe("free");
});

test("closing the session ends the saver", async () => {
  const { session, pid } = await openLarge();
  const saver = await saverOf(pid);
  process.kill(saver, "SIGSTOP");
  await session.close();
  expect(commandOf(saver)).toBe("");
});

test("a saver writes the same state as bash", async () => {
  const opened = await openLarge();
  const { run, session, pid } = opened;
  await run(
    "set -m; set -o noclobber; shopt -s nullglob; umask 027; alias kept='echo alias'; trap 'echo usr' USR1; trap '' HUP; " +
      "f() { echo f; }; export -f f; enable -n mapfile; hash -p /bin/true tru; pushd /tmp >/dev/null; declare -A m=([a]=b); IFS=: LC_ALL=C",
  );
  await session.save();
  expect(await run("x=1")).toMatchObject({ exitCode: 0, notes: [] });
  await saverOf(pid);
  await session.save();
  await killBash({ session, pid });
  const { notes, out } = await run(
    "echo $x $v5999; alias kept; trap -p; declare -p m; dirs; umask; hash -t tru; enable -n; set -o | grep -E 'monitor|noclobber'",
  );
  expect(notes).toEqual([expect.stringContaining("bash had ended")]);
  expect(out).toBe(
    [
      "1 5999",
      "alias kept='echo alias'",
      "trap -- '' SIGHUP",
      "trap -- 'echo usr' SIGUSR1",
      'declare -A m=([a]="b" )',
      `/tmp ${opened.dir}`,
      "0027",
      "/bin/true",
      "enable -n mapfile",
      "monitor        \ton",
      "noclobber      \ton",
      "",
    ].join("\n"),
  );
});

test("a saver saves the state of a bash that hashes no programs", async () => {
  const opened = await openLarge();
  const first = await saverOf(opened.pid);
  await opened.say("set +h; last=kept");
  await saverOf(opened.pid, first);
  await killBash(opened);
  const { out, notes } = await opened.run('[[ -o hashall ]] || echo "$last"');
  expect([out, notes]).toEqual(["kept\n", [expect.stringContaining("bash had ended")]]);
});
