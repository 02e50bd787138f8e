// A session whose state takes long to save: a fork of bash, the saver, writes it while the session continues.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { allPids, lockLimits } from "../../src/engine/process-table.ts";
import { openSession, type TestSession } from "../fixtures/sessions.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();

/** A session with so many variables that a save takes longer than a test needs to find the saver. */
async function openLarge(variables = 6_000): Promise<TestSession & { readonly pid: number }> {
  const place = openSession(shells);
  const pid = Number(await place.say(`echo "$$"`));
  await place.say(`for ((i = 0; i < ${variables}; i++)); do declare v$i=$i; done; unset i`);
  return { ...place, pid };
}

/** The savers of this bash's session: they have its tag, but no command's number. */
function saversOf(bash: number): number[] {
  const tag = lockLimits(bash)?.hard ?? "none";
  const isSaver = (pid: number) => {
    const limits = lockLimits(pid);
    return limits?.hard === tag && limits.soft === tag && commandOf(pid).includes("--noprofile");
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

/** Waits for a saver other than `before`. */
async function saverOf(bash: number, before = 0): Promise<number> {
  let found: number | undefined;
  await eventually(() => {
    found = saversOf(bash).find((pid) => pid !== before);
    expect(found).toBeDefined();
  });
  return found ?? 0;
}

async function killed({ session, pid }: { session: TestSession["session"]; pid: number }): Promise<void> {
  process.kill(pid, "SIGKILL");
  await eventually(() => expect(session.hasBash).toBe(false));
}

test("a command does not wait for the save: a stopped saver delays no command, and each new saver ends the previous one", async () => {
  const { say, pid } = await openLarge();
  for (const word of ["one", "two", "three"]) {
    const saver = await saverOf(pid);
    process.kill(saver, "SIGSTOP");
    expect(await say(`x=${word}; echo $x$v5999`)).toBe(`${word}5999`);
    await eventually(() => expect(saversOf(pid)).not.toContain(saver));
  }
});

test("if bash is killed during a save, the saver completes the save, and nothing is lost", async () => {
  const place = await openLarge();
  const { say, run, pid } = place;
  const first = await saverOf(pid);
  await say("last=kept; f() { echo $last; }");
  await saverOf(pid, first);
  await killed(place);
  const { out, notes } = await run("f; echo $v0 $v5999");
  expect(out).toBe("kept\n0 5999\n");
  expect(notes).toEqual([expect.stringContaining("bash had ended")]);
});

test("commands in a row that each end bash keep the state from before them", async () => {
  const { say, run } = await openLarge(1_500);
  for (let n = 1; n <= 3; n++) {
    await say(`last=${n}`);
    const { exitCode, notes } = await run("last=lost; exit 3");
    expect(exitCode).toBe(3);
    expect(notes).toEqual([expect.stringContaining("ended with this command")]);
    expect(await say("echo $last$v1499")).toBe(`${n}1499`);
  }
});

test("if bash and the saver are killed together, an older state is restored, and a note says what it lacks", async () => {
  const place = await openLarge();
  const { say, run, session, pid } = place;
  await session.save();
  await say("last=lost");
  process.kill(await saverOf(pid), "SIGKILL");
  await killed(place);
  const { out, notes } = await run("echo $v5999-$last");
  expect(out).toBe("5999-\n");
  expect(notes).toContain(
    "That state lacks the changes of the command before this one, because they could not be saved (the process that saved them ended early).",
  );
});

test("a killed saver alone loses nothing: bash saves the next state itself", async () => {
  const place = await openLarge();
  const { say, session, pid } = place;
  await say("x=1");
  process.kill(await saverOf(pid), "SIGKILL");
  await eventually(() => expect(saversOf(pid)).toEqual([]));
  await say("y=2");
  await session.save();
  await killed(place);
  expect((await place.run("echo $x$y$v5999")).out).toBe("125999\n");
});

test("jobs, wait and $! do not show the saver, and it is not a leftover", async () => {
  const { say, run, pid } = await openLarge();
  await saverOf(pid);
  expect(await say(`jobs; wait -n; echo "$? [$!]"`)).toBe("127 []");
  await saverOf(pid);
  const { out, leftovers } = await run("sleep 1000 & echo $!");
  const job = Number(out);
  expect(leftovers.map((one) => one.pid)).toEqual([job]);
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

test("the saver holds no descriptor of the session: a lock that a command releases is free", async () => {
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
  const place = await openLarge();
  const { run, session, pid } = place;
  await run(
    "set -m; set -o noclobber; shopt -s nullglob; umask 027; alias kept='echo alias'; trap 'echo usr' USR1; trap '' HUP; " +
      "f() { echo f; }; export -f f; enable -n mapfile; hash -p /bin/true tru; pushd /tmp >/dev/null; declare -A m=([a]=b); IFS=: LC_ALL=C",
  );
  await session.save();
  expect(await run("x=1")).toMatchObject({ exitCode: 0, notes: [] });
  await saverOf(pid);
  await session.save();
  await killed({ session, pid });
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
      `/tmp ${place.dir}`,
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
  const place = await openLarge();
  const first = await saverOf(place.pid);
  await place.say("set +h; last=kept");
  await saverOf(place.pid, first);
  await killed(place);
  const { out, notes } = await place.run('[[ -o hashall ]] || echo "$last"');
  expect([out, notes]).toEqual(["kept\n", [expect.stringContaining("bash had ended")]]);
});
