import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

/** The text after the status line. */
const body = (output: string) => output.slice(output.indexOf("\n\n") + 2);

describe("a read", () => {
  test("has exactly the documented keys on the wire, in one flat object", async () => {
    const { start, read } = tools();
    const shell = await start("echo out; echo err >&2; exit 5");
    await shell.wait(10_000);
    expect((await read(shell)).toWire()).toEqual({
      output: `Status: failed, Exit code: 5, Duration: ${shell.durationMs}ms\n\nout\n[stderr]\nerr\n`,
      bash_id: shell.id,
      status: "failed",
      exit_code: 5,
      is_running: false,
      duration_ms: shell.durationMs,
      truncated: false,
      sandbox: "off",
      notes: [],
    });
    expect((await read(shell)).output).toBe(
      `Status: failed, Exit code: 5, Duration: ${shell.durationMs}ms\n\n(no new output since last check)`,
    );
  });

  test("reports the status of a running, killed or timed-out shell", async () => {
    const { start, read, call, manager } = tools();
    const shell = await start("sleep 300");
    expect((await read(shell)).metadata).toMatchObject({
      status: "running",
      exit_code: null,
      is_running: true,
    });
    await call("KillShell", { shell_id: shell.id });
    const killed = await read(shell);
    expect(killed.output).toMatch(/^Status: killed, Exit code: 143, Duration: \d+ms\n/);
    const late = await manager.createShell({ command: "sleep 300", workingDir: "/", timeoutMs: 50 });
    await late.wait(10_000);
    expect((await read(late)).metadata).toMatchObject({ status: "timeout", is_running: false });
  });

  test("returns only complete lines while the shell runs, and the incomplete rest when the shell ends", async () => {
    const { talker, read } = tools();
    const { shell, say } = await talker();
    say("printf 'whole\\nhal'");
    await shell.waitFor({ pattern: /hal/ }, 10_000);
    expect(body((await read(shell)).output)).toBe("whole\n");
    expect(body((await read(shell)).output)).toBe("(no new output since last check)");
    say("printf 'f\\nlast'");
    await shell.waitFor({ pattern: /last/ }, 10_000);
    expect(body((await read(shell)).output)).toBe("half\n");
    say("exit 0");
    await shell.wait(10_000);
    expect(body((await read(shell)).output)).toBe("last");
  });

  test("advances the cursor of the agent that reads, and of no other agent in the scope", async () => {
    const { start, read } = tools();
    const shell = await start("echo once");
    await shell.wait(10_000);
    shell.getAllOutput();
    for (const agentId of ["one", "two"]) {
      expect(body((await read(shell, {}, { agentId })).output)).toBe("once\n");
      expect(body((await read(shell, {}, { agentId })).output)).toBe("(no new output since last check)");
    }
    expect(body((await read(shell)).output)).toBe("once\n");
  });

  test("over the limit is truncated in the middle; the next read continues after the end of that output", async () => {
    const { talker, read } = tools();
    const { shell, say } = await talker();
    say("seq 1 50000; echo mark");
    await shell.waitFor({ pattern: /mark/ }, 20_000);
    const first = await read(shell);
    expect(first.metadata).toMatchObject({ truncated: true, output_file: shell.outputFiles.stdout });
    expect(body(first.output).length).toBeLessThanOrEqual(30_000);
    expect(first.output).toMatch(/\[Output truncated at 30000 characters: .*; the whole output is in .*\]\n/);
    expect(body(first.output).startsWith("1\n2\n")).toBe(true);
    expect(first.output.endsWith("50000\nmark\n")).toBe(true);
    say("echo next");
    expect(body((await read(shell, { wait_for: "next" })).output)).toBe("next\n");
    expect(readFileSync(shell.outputFiles.stdout, "utf8").split("\n")).toHaveLength(50_003);
  });
});

describe("a filter", () => {
  test("marks the lines that it leaves out as read", async () => {
    const { start, read } = tools();
    const shell = await start("printf 'a1\\nb1\\na2\\n'; echo b2 >&2; echo a3 >&2");
    await shell.wait(10_000);
    const result = await read(shell, { filter: "^a" });
    expect(body(result.output)).toBe("a1\na2\n[stderr]\na3\n");
    expect(result.notes).toEqual(["The filter left out 2 lines."]);
    expect(body((await read(shell)).output)).toBe("(no new output since last check)");
  });

  test("is matched against lines without their colors", async () => {
    const { start, read } = tools();
    const shell = await start("printf '\\e[31mERR\\e[0mOR x\\ninfo\\n'");
    await shell.wait(10_000);
    expect(body((await read(shell, { filter: "^ERROR x$" })).output)).toBe("ERROR x\n");
  });

  test("is matched in linear time against 50,000 characters", async () => {
    const { start, read } = tools();
    const shell = await start("printf 'a%.0s' {1..50000}; echo '!'");
    await shell.wait(10_000);
    const started = performance.now();
    const result = await read(shell, { filter: "(a+)+$" });
    expect(performance.now() - started).toBeLessThan(60_000);
    expect(result.notes).toEqual(["The filter left out 1 line."]);
  });

  test("is applied even if the output contains a line of 20 MB", async () => {
    const { start, read } = tools();
    const shell = await start("head -c 20000000 /dev/zero | tr '\\0' a; echo; echo short");
    await shell.wait(20_000);
    const result = await read(shell, { filter: "^short$" });
    expect({ error: result.error, shown: body(result.output) }).toEqual({
      error: undefined,
      shown: "short\n",
    });
  });

  test.each([
    ["(", "Invalid filter regex: "],
    ["a(?=b)", "RE2 syntax"],
    ["(a)\\1", "RE2 syntax"],
  ])("%s is refused at once, and no output counts as read", async (filter, words) => {
    const { start, read } = tools();
    const shell = await start("echo kept; sleep 300");
    await shell.waitFor({ pattern: /kept/ }, 10_000);
    const result = await read(shell, { filter, wait_for: "exit" });
    expect(result).toMatchObject({ code: "invalid_input" });
    expect(result.error).toContain(words);
    expect(body((await read(shell)).output)).toBe("kept\n");
  });
});

describe("an id", () => {
  test("that is unknown is refused with a list of the existing shells", async () => {
    const { start, call } = tools();
    const none = await call("BashOutput", { bash_id: "shell_none" });
    expect(none.error).toBe(
      "Shell not found: shell_none. It may have been cleaned up, or the id is wrong. There are no shells.",
    );
    const shell = await start(`sleep 300 # ${"x".repeat(100)}\nmore`);
    for (const [tool, args] of [
      ["BashOutput", { bash_id: "shell_none" }],
      ["KillShell", { shell_id: "../../etc" }],
    ] as const) {
      const result = await call(tool, args);
      expect(result.code).toBe("shell_not_found");
      expect(result.error).toMatch(/^Shell not found: (shell_none|\.\.\/\.\.\/etc)\. .*There are:\n/);
      expect(result.error).toContain(`${shell.id} (running): sleep 300 # xxx`);
      expect(result.error).not.toContain("more");
    }
  });

  test("of another scope is unknown, and not listed", async () => {
    const { start, read, call } = tools();
    const shell = await start("echo secret; sleep 300", { scope: "theirs" });
    for (const result of [
      await read(shell, {}, { scope: "ours" }),
      await call("KillShell", { shell_id: shell.id }),
    ]) {
      expect(result.code).toBe("shell_not_found");
      expect(result.error).toContain("There are no shells.");
    }
    expect(shell.isRunning).toBe(true);
    expect((await read(shell, { wait_for: "secret" }, { scope: "theirs" })).success).toBe(true);
  });
});

test("if an output file is truncated, later output is shown with a note", async () => {
  const { talker, read } = tools();
  const { shell, say } = await talker();
  say("echo a long first line");
  await shell.waitFor({ pattern: /first/ }, 10_000);
  expect((await read(shell)).output).toContain("a long first line");
  say(`: > ${shell.outputFiles.stdout}; echo later`);
  const result = await read(shell, { wait_for: "later" });
  expect(result.output).toContain("later");
  expect(result.notes.join()).toContain("stdout was truncated");
});
