import { describe, expect, test } from "vitest";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

const body = (output: string) => output.slice(output.indexOf("\n\n") + 2);

describe("waiting for a line", () => {
  test("returns when the line appears, with all new output up to that line", async () => {
    const { talker, read } = tools();
    const { shell, say } = await talker();
    const waiting = read(shell, { wait_for: "listening on \\d+", wait_ms: 20_000 });
    say("echo starting; echo listening on 8080");
    const result = await waiting;
    expect(result).toMatchObject({ success: true, notes: [], metadata: { is_running: true } });
    expect(body(result.output)).toBe("starting\nlistening on 8080\n");
  });

  test("searches stderr, too, and ignores colors", async () => {
    const { start, read } = tools();
    const shell = await start("printf '\\e[32mready\\e[0m in 5 ms\\n' >&2; sleep 300");
    expect((await read(shell, { wait_for: "^ready in" })).output).toContain("[stderr]\nready in 5 ms\n");
  });

  test("does not match a line that was read before", async () => {
    const { talker, read } = tools();
    const { shell, say } = await talker();
    say("echo tick 1");
    await read(shell, { wait_for: "tick" });
    const again = await read(shell, { wait_for: "tick", wait_ms: 50 });
    expect(again).toMatchObject({
      success: true,
      notes: ['No line matched "tick" within 50ms; it is still running.'],
    });
    say("echo tick 2");
    expect(body((await read(shell, { wait_for: "tick" })).output)).toBe("tick 2\n");
  });

  test("adds a note with the matching line if that line is incomplete or the filter drops it", async () => {
    const { talker, read } = tools();
    const { shell, say } = await talker();
    say("printf 'Continue? '");
    const prompt = await read(shell, { wait_for: "Continue" });
    expect(body(prompt.output)).toBe("(no new output since last check)");
    expect(prompt.notes).toEqual(["Matched, but not shown above: Continue?"]);
    say("echo; echo ready; echo other");
    const filtered = await read(shell, { wait_for: "other", filter: "ready" });
    expect(filtered.notes).toContain("Matched, but not shown above: other");
  });

  test("fails as soon as the shell ends without the line", async () => {
    const { start, read } = tools();
    const shell = await start("echo no luck; exit 3");
    const result = await read(shell, { wait_for: "listening", wait_ms: 50_000 });
    expect(result).toMatchObject({
      success: false,
      code: "exit_nonzero",
      error: `Shell ${shell.id} exited with code 3, and no line matched "listening"`,
      metadata: { status: "failed", exit_code: 3 },
    });
    expect(body(result.output)).toBe("no luck\n");
  });

  test("matches a line that was printed just before the shell ended", async () => {
    const { start, read } = tools();
    const shell = await start("echo all done");
    expect(await read(shell, { wait_for: "all done" })).toMatchObject({ success: true });
  });
});

describe("waiting for exit", () => {
  test("returns with the exit code", async () => {
    const { start, read } = tools();
    const shell = await start("sleep 0.05; echo late; exit 2");
    const result = await read(shell, { wait_for: "exit", wait_ms: 31_000 });
    expect(result).toMatchObject({ success: true, metadata: { exit_code: 2, is_running: false } });
    expect(body(result.output)).toBe("late\n");
    expect((await read(shell, { wait_for: "exit" })).metadata).toMatchObject({ exit_code: 2 });
  });

  test("adds a note if it times out, and does not end the shell", async () => {
    const { start, read } = tools();
    const shell = await start("sleep 300");
    const result = await read(shell, { wait_for: "exit", wait_ms: 20 });
    expect(result).toMatchObject({
      success: true,
      notes: ["It has not ended within 20ms; it is still running."],
    });
    expect(shell.isRunning).toBe(true);
  });
});

describe("waiting for anything", () => {
  test("returns at the first complete line, not at an incomplete line", async () => {
    const { talker, read } = tools();
    const { shell, say } = await talker();
    say("printf half");
    await shell.waitFor({ pattern: /half/ }, 10_000);
    const soon = await read(shell, { wait_ms: 10 });
    expect(soon).toMatchObject({ success: true, notes: [] });
    expect(body(soon.output)).toBe("(no new output since last check)");
    const waiting = read(shell, { wait_ms: 20_000 });
    say("echo ' and half'");
    expect(body((await waiting).output)).toBe("half and half\n");
  });

  test("does not wait if wait_ms is 0", async () => {
    const { start, read } = tools();
    const shell = await start("sleep 300");
    expect((await read(shell, { wait_ms: 0 })).success).toBe(true);
    expect((await read(shell, { wait_for: "x", wait_ms: 0 })).notes).toHaveLength(1);
  });
});

test("a wait_ms that is out of bounds is refused", async () => {
  const { start, read } = tools();
  const shell = await start("sleep 300");
  expect((await read(shell, { wait_ms: -1 })).code).toBe("invalid_input");
  expect((await read(shell, { wait_ms: 50_001 })).error).toContain("wait_ms must be at most 50000");
  expect((await read(shell, { wait_for: "(" })).error).toContain("Invalid wait_for regex: ");
});

test("a cancelled wait returns soon, and marks no output as read", async () => {
  const { talker, read } = tools();
  const { shell, say } = await talker();
  const controller = new AbortController();
  const waiting = read(shell, { wait_for: "never", wait_ms: 50_000 }, { signal: controller.signal });
  say("echo unread");
  await shell.waitFor({ pattern: /unread/ }, 10_000);
  controller.abort();
  expect(await waiting).toMatchObject({ success: false, code: "aborted" });
  expect(body((await read(shell)).output)).toBe("unread\n");
});
