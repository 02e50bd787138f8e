// Things around a session that break: its loggers, its shim, the keeper, its host.
import { readdirSync, readFileSync, readlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { processesTouching } from "../fixtures/leak-proof.ts";
import { isAlive } from "../fixtures/processes.ts";
import { openSession, said, type TestSession } from "../fixtures/sessions.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();

function stat(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

async function pids({ run }: TestSession): Promise<{ bash: number; shim: number; keeper: number }> {
  const bash = Number((await run("echo $$")).out);
  const shim = Number(stat(bash)[1]);
  return { bash, shim, keeper: Number(stat(shim)[1]) };
}

/** The process that writes to a file. */
function writerOf(path: string): number {
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      if (readlinkSync(`/proc/${pid}/fd/1`) === path) return pid;
    } catch {
      // It is gone, or not ours to look at.
    }
  }
  throw new Error(`no process writes to ${path}`);
}

test("a killed logger costs output, is reported, and is replaced", async () => {
  const place = openSession(shells);
  const { stdout } = await place.run("echo a");
  process.kill(writerOf(stdout.path), "SIGKILL");
  const hit = await place.run("/bin/echo b; echo code $? >&2");
  expect(hit.notes.join()).toMatch(/logger lost|new one continues/);
  expect(await place.run("echo c")).toMatchObject({ exitCode: 0, out: "c\n" });
});

test("a logger of an exchanged pair that is killed does not hang the session", async () => {
  const place = openSession(shells);
  await place.run("sleep 300 &");
  const { stdout } = await place.run("echo a");
  process.kill(writerOf(stdout.path), "SIGKILL");
  await place.run("echo b", { timeoutMs: 5_000 });
  expect(await place.run("echo c")).toMatchObject({ exitCode: 0, out: "c\n" });
});

test("a logger that is stopped is woken, and nothing is missing", async () => {
  const place = openSession(shells);
  const { stdout } = await place.run("echo a");
  process.kill(writerOf(stdout.path), "SIGSTOP");
  expect(await place.run("seq 5000 | tail -1")).toMatchObject({ out: "5000\n", notes: [] });
});

test("a logger that is stopped again and again costs time once, and its output does not appear in the next result", async () => {
  const place = openSession(shells);
  const { stdout } = await place.run("echo a");
  const logger = writerOf(stdout.path);
  // It is stopped again as soon as it is continued.
  const stopping = await place.session.start(`while kill -STOP ${logger}; do :; done 2>/dev/null`);
  await eventually(() => expect(stat(logger)[0]).toBe("T"));
  // On a busy machine it may get a moment in between: then everything is there.
  let notes: readonly string[] = [];
  for (let tries = 0; tries < 10 && notes.length === 0; tries++) {
    const hit = await place.run("seq 3; echo code $? >&2");
    expect(hit).toMatchObject({ exitCode: 0, err: "code 0\n" });
    ({ notes } = hit);
    if (notes.length === 0) expect(hit.out).toBe("1\n2\n3\n");
  }
  expect(notes).toEqual(["stdout may be incomplete: its logger did not finish in time"]);
  const next = await place.run("echo c");
  expect(next).toMatchObject({ exitCode: 0, out: "c\n", notes: [] });
  await stopping.kill({ graceMs: 0 });
  process.kill(logger, "SIGCONT");
  expect(await place.run("echo d")).toMatchObject({ exitCode: 0, out: "d\n", notes: [] });
});

test("a killed shim ends its bash; the session continues with a new one", async () => {
  const place = openSession(shells);
  await place.run("x=kept");
  const { shim, bash } = await pids(place);
  await place.run("true");
  process.kill(shim, "SIGKILL");
  const running = place.run("sleep 300", { timeoutMs: 10_000 });
  expect((await running).outcome?.kind).toBe("lost");
  await eventually(() => expect(isAlive(bash)).toBe(false));
  expect(await place.run("echo $x")).toMatchObject({ out: "kept\n", exitCode: 0 });
});

test("the keeper may die: commands, exchanges and new bashes go on", async () => {
  const place = openSession(shells);
  await place.run("x=kept");
  const { keeper } = await pids(place);
  process.kill(keeper, "SIGKILL");
  expect(await place.run("echo $x")).toMatchObject({ out: "kept\n" });
  await place.run("sleep 300 &");
  expect(await place.run("echo b")).toMatchObject({ out: "b\n" });
  expect((await place.run("exit 3")).exitCode).toBe(3);
  expect(await place.run("echo $x")).toMatchObject({ out: "kept\n" });
});

test("the spool directory may lose the saved state", async () => {
  const place = openSession(shells);
  await place.run("x=kept; cd /");
  await place.run("true");
  const files = () =>
    place.manager.root.list().flatMap((id) => {
      const { dir } = place.manager.root.files(id);
      return readdirSync(dir)
        .filter((name) => name.startsWith("state."))
        .map((name) => join(dir, name));
    });
  // Saved after the report: the state after the second command may be on its way.
  await eventually(() =>
    expect(files().some((path) => readFileSync(path, "latin1").includes(" end 2\n"))).toBe(true),
  );
  for (const path of files()) unlinkSync(path);
  const end = await place.run("exit 3");
  expect(end.exitCode).toBe(3);
  expect(end.notes.join()).toContain("the rest of its state is lost");
  expect(await place.run(`echo \${x-none} $PWD`)).toMatchObject({ out: "none /\n", exitCode: 0 });
});

test("killing every bash does not end the session", async () => {
  const place = openSession(shells);
  await place.run("x=kept");
  await place.run("true");
  const { bash } = await pids(place);
  const end = await place.run(`kill -9 ${bash}; echo unreached`);
  expect(end).toMatchObject({ exitCode: 137, out: "", restarted: true });
  expect((await place.run("pkill -9 -P 1 -f nosuchprogram; echo $x")).out).toBe("kept\n");
});

test("disposing of the manager ends a session in the middle of everything", async () => {
  const place = openSession(shells);
  await place.run("sleep 300 & yes >/dev/null &");
  const running = place.session.run("setsid sleep 301 & while :; do :; done");
  const starting = place.session.start("sleep 302");
  await starting;
  await place.manager.dispose();
  expect(said(await running).outcome?.kind).toBe("killed");
  await eventually(() => expect(processesTouching(place.manager.root.path)).toEqual([]));
});

test("a command that lowers the limit the tag is kept in is not heard of in the next", async () => {
  const place = openSession(shells);
  expect((await place.run("ulimit -x 0")).exitCode).toBe(0);
  expect(await place.say("echo next")).toBe("next");
});
