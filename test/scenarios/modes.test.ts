import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isAlive } from "../fixtures/processes.ts";
import { eventually } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

/** Runs the tool of the modes dialect. */
function modes() {
  const kit = tools();
  const run = (command: string, mode?: string, timeoutMs?: number) =>
    kit.call("bash", mode === undefined ? { command } : { command, mode }, timeoutMs ? { timeoutMs } : {});
  return { ...kit, run };
}

const deadlinesOf = ({ manager }: ReturnType<typeof modes>) =>
  manager.listShells().map(({ started }) => started.meta.deadlineMs);

describe("Bash Tool - Design Document", () => {
  test("REQ-BASH-001: a command runs with bash, and stdout and stderr are merged in order", async () => {
    const result = await modes().run("[[ a == a* ]] && echo one; echo two >&2; echo three; echo four >&2");
    expect(result).toMatchObject({ success: true, output: "one\ntwo\nthree\nfour\n" });
  });

  test("REQ-BASH-001: output over 128KB keeps its first and last 4KB", async () => {
    const result = await modes().run("printf 'start '; printf 'x%.0s' {1..200000}; printf ' end'");
    const [notice, ...rest] = result.output.split("\n");
    expect(notice).toBe("[output truncated in middle: got 195.3KB, max is 128KB]");
    const [head = "", tail = ""] = rest.join("\n").split("\n\n[snip]\n\n");
    expect([head.length, tail.length]).toEqual([4096, 4096]);
    expect(head.startsWith("start xxx")).toBe(true);
    expect(tail.endsWith("xxx end")).toBe(true);
    expect(result.metadata).toMatchObject({ truncated: true });
  });

  test("REQ-BASH-001: output of 128KB is not truncated", async () => {
    const result = await modes().run("head -c 131072 /dev/zero | tr '\\0' x");
    expect(result.output).toBe("x".repeat(131_072));
    expect(result.metadata).toMatchObject({ truncated: false });
  });

  test("REQ-BASH-001: no state of a call is kept for the next call", async () => {
    const { run, dir } = modes();
    await run("cd /; export LEFT=over; alias hi='echo hi'");
    expect((await run("pwd; echo left=$LEFT")).output).toBe(`${dir}\nleft=\n`);
  });

  test("REQ-BASH-002: default allows 30 seconds, slow 15 minutes, background 24 hours", async () => {
    const kit = modes();
    await kit.run("true");
    await kit.run("true", "default");
    await kit.run("true", "slow");
    await kit.run("true", "background");
    expect(deadlinesOf(kit)).toEqual([30_000, 30_000, 900_000, 86_400_000]);
  });

  test("REQ-BASH-002: a timeout ends the command with everything it started, and returns its output", async () => {
    const { run } = modes();
    const result = await run("sleep 300 & echo $!; sleep 300", "default", 1_000);
    expect(result).toMatchObject({
      success: false,
      code: "timed_out",
      error: "[command timed out after 1s]",
      metadata: { timeout_ms: 1_000 },
    });
    expect(result.output).toMatch(/^\d+\n$/);
    expect(isAlive(Number(result.output))).toBe(false);
  });

  test("REQ-BASH-003: background returns at once with a pid, a file and a stop command", async () => {
    const { run, manager } = modes();
    const result = await run("sleep 300", "background");
    const [shell] = manager.listShells();
    const pid = shell?.started.commandPid;
    expect(result.output).toBe(
      `<pid>${pid}</pid>\n<output_file>${shell?.outputFiles.stdout}</output_file>\n<reminder>To stop: kill -9 -${pid}</reminder>`,
    );
    expect(shell?.isRunning).toBe(true);
  });

  test("REQ-BASH-003: the last line of the output file states how the process ended", async () => {
    const { run } = modes();
    const ends = { "echo out; echo err >&2": "completed", "echo no; exit 5": "failed: exit code 5" };
    for (const [command, end] of Object.entries(ends)) {
      const { metadata } = await run(command, "background");
      const file = String(metadata["output_file"]);
      const shown = command.includes("err") ? "out\nerr\n" : "no\n";
      await eventually(() =>
        expect(readFileSync(file, "utf8")).toBe(`${shown}\n\n[background process ${end}]\n`),
      );
    }
  });

  test("REQ-BASH-004: stdin is empty and there is no terminal", async () => {
    const result = await modes().run(
      "cat; read -r line || echo at the end; [[ -t 0 || -t 1 || -t 2 ]] || echo none; : </dev/tty || echo no tty",
    );
    expect(result.output).toMatch(/^at the end\nnone\n.*\/dev\/tty.*\nno tty\n$/);
  });

  test("REQ-BASH-006: the tool takes a command and one of three modes", async () => {
    const { registry, run } = modes();
    const schema = registry.get("bash")?.toJsonSchema();
    expect(schema).toMatchObject({
      type: "object",
      required: ["command"],
      properties: {
        command: { type: "string" },
        mode: { type: "string", enum: ["default", "slow", "background"] },
      },
    });
    expect(Object.keys(schema?.properties ?? {})).toEqual(["command", "mode"]);
    expect(await run("true", "fast")).toMatchObject({
      code: "invalid_input",
      error: expect.stringContaining("default, slow, background"),
    });
  });

  test("REQ-BASH-006: the description names the directory and the limits, and asks for concise use", () => {
    const { registry, dir } = modes();
    const description = registry.get("bash")?.description ?? "";
    expect(description.endsWith(`<pwd>${dir}</pwd>`)).toBe(true);
    for (const words of ["30 seconds", "15 minutes", "24 hours", "concise", "128KB", "NOT carry over"]) {
      expect(description).toContain(words);
    }
  });

  test("REQ-BASH-006: the text of a failure is the exit code followed by the output", async () => {
    const result = await modes().run("echo shown; exit 3");
    expect(result).toMatchObject({ success: false, code: "exit_nonzero", metadata: { exit_code: 3 } });
    expect(result.toDisplay()).toMatch(/^\[command failed: exit code 3\]\nshown\n/);
  });
});
