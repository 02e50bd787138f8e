// A timeout or a cancellation ends a call and its command. Processes that a command leaves running are
// leftovers.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

/** Returns a signal that aborts when the command's output contains `word`. */
function abortOn(word: string, reason?: unknown) {
  const controller = new AbortController();
  const onProgress = ({ message }: { message: string }) => {
    if (message.includes(word)) controller.abort(reason);
  };
  return { signal: controller.signal, onProgress };
}

describe("a timeout", () => {
  test("ends the command with everything it started, and keeps its output", async () => {
    const result = await tools().bash("sleep 60 & echo $!; sleep 60", { timeout: 1000 });
    expect(result).toMatchObject({
      code: "timed_out",
      error: "Command timed out after 1000ms",
      metadata: { timeout_ms: 1000, exit_code: 143 },
    });
    expect(isAlive(Number.parseInt(result.output, 10))).toBe(false);
  });

  test("ends a bash that waits for a background loop", async () => {
    const result = await tools().bash("while true; do sleep 0.1; done & wait", { timeout: 1000 });
    expect(result.code).toBe("timed_out");
    expect(result.metadata["duration_ms"]).toBeLessThan(5_000);
  });

  test("lets a TERM trap run and keeps its output", async () => {
    const { bash } = tools();
    const result = await bash("trap 'echo cleaned up; exit 0' TERM; sleep 60 & wait", { timeout: 1000 });
    expect(result).toMatchObject({ code: "timed_out", output: "cleaned up\n" });
  });

  test('turns the command into a background shell if onTimeout is "background"', async () => {
    const { bash, manager, call, dir } = tools({ onTimeout: "background", defaultTimeoutMs: 1_000 });
    const result = await bash("echo early; until [ -e go ]; do sleep 0.02; done; echo late");
    const [shell] = manager.listShells();
    const id = shell?.id;
    expect(result).toMatchObject({
      success: true,
      metadata: { bash_id: id, exit_code: null, timeout_ms: 1_000, truncated: false },
    });
    const [head, now, ...rest] = String(result.output).split(/\n(?=Now: |Output so far:)/);
    expect(head).toBe(
      `Command is still running after 1000ms and continues as background shell: ${id}\nUse BashOutput with bash_id="${id}" to read its output from the start, KillShell to end it.`,
    );
    expect(now).toMatch(/^Now: .+; no output for \d+ s\.$/);
    expect(rest).toEqual(["Output so far:\nearly\n"]);
    writeFileSync(join(dir, "go"), "");
    const ended = await call("BashOutput", { bash_id: id, wait_for: "exit" });
    expect(ended.output).toMatch(/^Status: completed, Exit code: 0, Duration: \d+ms\n\nearly\nlate\n$/);
  });

  test("does not apply to a background command", async () => {
    const { bash, manager } = tools();
    await bash("sleep 300", { run_in_background: true, timeout: 1000 });
    expect(manager.listShells()[0]?.started.meta.deadlineMs).toBeNull();
  });
});

describe("a cancelled call", () => {
  test("ends the command with everything it started, keeps its output, and reports the cancellation", async () => {
    const marks = new Mark();
    const result = await tools().bash(
      `sleep ${marks.next()} & setsid sleep ${marks.next()} & echo before; sleep ${marks.next()}`,
      {},
      abortOn("before"),
    );
    expect(result).toMatchObject({
      success: false,
      code: "aborted",
      error: "Command was cancelled by the caller and ended with everything it started",
      output: "before\n",
    });
    expect(marks.processes()).toEqual([]);
  });

  test("returns soon even during a flood of output, in both dialects", async () => {
    const { call } = tools();
    for (const tool of ["Bash", "bash"]) {
      const result = await call(tool, { command: "while :; do echo flood; done" }, abortOn("flood"));
      expect(result.code).toBe("aborted");
      expect(result.output).toContain("flood");
      expect(result.metadata["duration_ms"]).toBeLessThan(10_000);
    }
  });

  test("runs nothing if it was cancelled before the command began", async () => {
    const { bash, manager } = tools();
    const result = await bash("echo ran", {}, { signal: AbortSignal.abort("the user pressed stop") });
    expect(result).toMatchObject({
      code: "aborted",
      error: "Call to Bash was aborted: the user pressed stop",
    });
    expect(manager.findAll()).toEqual([]);
  });

  test("is reported as aborted, whatever reason the caller gave for the abort", async () => {
    const result = await tools().bash("echo up; sleep 60", {}, abortOn("up", new Error("changed my mind")));
    expect(result.code).toBe("aborted");
  });
});

describe("a leftover of a command", () => {
  /** Starts `sleep` in the background and waits until the forked bash has become `sleep`. */
  const leaveSleep = (duration: string) =>
    `sleep ${duration} & until [[ $(</proc/$!/comm) == sleep ]]; do :; done`;

  test("does not block the call, is listed in the result, and can be ended with KillShell", async () => {
    const { bash, call, manager } = tools();
    const marks = new Mark();
    const duration = marks.next();
    const result = await bash(`printf hello; ${leaveSleep(duration)}`);
    const [shell] = manager.listShells();
    const [left] = marks.processes();
    expect(result).toMatchObject({ success: true, output: "hello" });
    expect(result.metadata).toMatchObject({
      leftovers: [{ pid: left?.pid, command: `sleep ${duration}` }],
      bash_id: shell?.id,
    });
    expect(result.notes).toContain(
      `Left running: sleep ${duration} (pid ${left?.pid}). KillShell with shell_id="${shell?.id}" ends it.`,
    );
    const killed = await call("KillShell", { shell_id: shell?.id });
    expect(killed).toMatchObject({
      success: true,
      output: `Shell ${shell?.id} already stopped (status: completed)`,
      metadata: { already_stopped: true, signalled: [{ pid: left?.pid, command: `sleep ${duration}` }] },
      notes: [`Ended a process that it left running: sleep ${duration} (pid ${left?.pid})`],
    });
    await eventually(() => expect(marks.processes()).toEqual([]));
  });

  test("that is a subshell is reported as a subshell, without the path of the command file", async () => {
    const { metadata } = await tools().bash("(while :; do read -r -t 60 < <(:); done) &");
    expect(metadata["leftovers"]).toContainEqual({
      pid: expect.any(Number),
      command: "bash (a subshell of the command)",
    });
  });

  test("is not reported if every process has ended", async () => {
    const { metadata } = await tools().bash("sleep 0.05 & wait; echo done");
    expect(metadata).not.toHaveProperty("leftovers");
    expect(metadata).not.toHaveProperty("bash_id");
  });

  test("is reported with a command that kills it in the modes dialect, which has no KillShell", async () => {
    const marks = new Mark();
    const { notes, metadata } = await tools().call("bash", { command: leaveSleep(marks.next()) });
    const [left] = marks.processes();
    expect(metadata["leftovers"]).toEqual([left]);
    expect(notes.join("\n")).toContain(`(pid ${left?.pid}). To end it: kill -9 ${left?.pid}`);
  });
});
