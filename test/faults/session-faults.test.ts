// These tests stop or kill the processes around a session: its loggers, its shim, its bash and the keeper.
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
      // The process has exited, or we may not read its descriptors.
    }
  }
  throw new Error(`no process writes to ${path}`);
}

test("a killed logger is replaced, and the loss of output is reported", async () => {
  const opened = openSession(shells);
  const { stdout } = await opened.run("echo a");
  process.kill(writerOf(stdout.path), "SIGKILL");
  const hit = await opened.run("/bin/echo b; echo code $? >&2");
  expect(hit.notes.join()).toMatch(/logger lost|new one continues/);
  expect(await opened.run("echo c")).toMatchObject({ exitCode: 0, out: "c\n" });
});

test("a session does not hang when a replacement logger is killed", async () => {
  const opened = openSession(shells);
  await opened.run("sleep 300 &");
  const { stdout } = await opened.run("echo a");
  process.kill(writerOf(stdout.path), "SIGKILL");
  await opened.run("echo b", { timeoutMs: 5_000 });
  expect(await opened.run("echo c")).toMatchObject({ exitCode: 0, out: "c\n" });
});

test("a stopped logger is continued, and no output is missing", async () => {
  const opened = openSession(shells);
  const { stdout } = await opened.run("echo a");
  process.kill(writerOf(stdout.path), "SIGSTOP");
  expect(await opened.run("seq 5000 | tail -1")).toMatchObject({ out: "5000\n", notes: [] });
});

test("a logger that is stopped repeatedly delays one command, and its output is not in the next result", async () => {
  const opened = openSession(shells);
  const { stdout } = await opened.run("echo a");
  const logger = writerOf(stdout.path);
  // This command stops the logger again as soon as it is continued.
  const stopping = await opened.session.start(`while kill -STOP ${logger}; do :; done 2>/dev/null`);
  await eventually(() => expect(stat(logger)[0]).toBe("T"));
  // Retry: on a busy machine the logger may run between two stops, so that the output is complete.
  let notes: readonly string[] = [];
  for (let tries = 0; tries < 10 && notes.length === 0; tries++) {
    const hit = await opened.run("seq 3; echo code $? >&2");
    expect(hit).toMatchObject({ exitCode: 0, err: "code 0\n" });
    ({ notes } = hit);
    if (notes.length === 0) expect(hit.out).toBe("1\n2\n3\n");
  }
  expect(notes).toEqual(["stdout may be incomplete: its logger did not finish in time"]);
  const next = await opened.run("echo c");
  expect(next).toMatchObject({ exitCode: 0, out: "c\n", notes: [] });
  await stopping.kill({ graceMs: 0 });
  process.kill(logger, "SIGCONT");
  expect(await opened.run("echo d")).toMatchObject({ exitCode: 0, out: "d\n", notes: [] });
});

test("a killed shim ends its bash, and the session continues with a new bash", async () => {
  const opened = openSession(shells);
  await opened.run("x=kept");
  const { shim, bash } = await pids(opened);
  await opened.run("true");
  process.kill(shim, "SIGKILL");
  const running = opened.run("sleep 300", { timeoutMs: 10_000 });
  expect((await running).outcome?.kind).toBe("lost");
  await eventually(() => expect(isAlive(bash)).toBe(false));
  expect(await opened.run("echo $x")).toMatchObject({ out: "kept\n", exitCode: 0 });
});

test("after the keeper dies, commands run, loggers are replaced and a new bash starts", async () => {
  const opened = openSession(shells);
  await opened.run("x=kept");
  const { keeper } = await pids(opened);
  process.kill(keeper, "SIGKILL");
  expect(await opened.run("echo $x")).toMatchObject({ out: "kept\n" });
  await opened.run("sleep 300 &");
  expect(await opened.run("echo b")).toMatchObject({ out: "b\n" });
  expect((await opened.run("exit 3")).exitCode).toBe(3);
  expect(await opened.run("echo $x")).toMatchObject({ out: "kept\n" });
});

test("a session continues after its saved state was removed, and reports the loss", async () => {
  const opened = openSession(shells);
  await opened.run("x=kept; cd /");
  await opened.run("true");
  const files = () =>
    opened.manager.root.list().flatMap((id) => {
      const { dir } = opened.manager.root.files(id);
      return readdirSync(dir)
        .filter((name) => name.startsWith("state."))
        .map((name) => join(dir, name));
    });
  // bash saves its state after its report: wait for the state after the second command.
  await eventually(() =>
    expect(files().some((path) => readFileSync(path, "latin1").includes(" end 2\n"))).toBe(true),
  );
  for (const path of files()) unlinkSync(path);
  const end = await opened.run("exit 3");
  expect(end.exitCode).toBe(3);
  expect(end.notes.join()).toContain("the rest of its state is lost");
  expect(await opened.run(`echo \${x-none} $PWD`)).toMatchObject({ out: "none /\n", exitCode: 0 });
});

test("killing every bash does not end the session", async () => {
  const opened = openSession(shells);
  await opened.run("x=kept");
  await opened.run("true");
  const { bash } = await pids(opened);
  const end = await opened.run(`kill -9 ${bash}; echo unreached`);
  expect(end).toMatchObject({ exitCode: 137, out: "", restarted: true });
  expect((await opened.run("pkill -9 -P 1 -f nosuchprogram; echo $x")).out).toBe("kept\n");
});

test("disposing of the manager ends a session with foreground and background commands", async () => {
  const opened = openSession(shells);
  await opened.run("sleep 300 & yes >/dev/null &");
  const running = opened.session.run("setsid sleep 301 & while :; do :; done");
  const starting = opened.session.start("sleep 302");
  await starting;
  await opened.manager.dispose();
  expect(said(await running).outcome?.kind).toBe("killed");
  await eventually(() => expect(processesTouching(opened.manager.root.path)).toEqual([]));
});

test("a command that lowers the hard limit that holds its tag does not affect the next command", async () => {
  const opened = openSession(shells);
  expect((await opened.run("ulimit -x 0")).exitCode).toBe(0);
  expect(await opened.say("echo next")).toBe("next");
});
