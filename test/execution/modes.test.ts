import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, directory } = useTools();

function modes() {
  const kit = tools();
  return { ...kit, run: (command: string, mode = "default") => kit.call("bash", { command, mode }) };
}

describe("the wire format", () => {
  test("has the documented keys for a success, a failure and a dry run", async () => {
    const { run, call, manager } = modes();
    await run("true");
    const common = {
      duration_ms: expect.any(Number),
      truncated: false,
      containment: manager.containment,
      sandbox: "off",
    };
    expect((await run("echo hi", "slow")).toWire()).toEqual({
      output: "hi\n",
      command: "echo hi",
      mode: "slow",
      exit_code: 0,
      ...common,
      notes: [],
    });
    expect((await run("echo no; kill -9 $$")).toWire()).toEqual({
      output: "no\n",
      command: "echo no; kill -9 $$",
      mode: "default",
      exit_code: 137,
      signal: "SIGKILL",
      ...common,
      error: "[command failed: exit code 137]",
      error_code: "exit_nonzero",
      notes: [],
    });
    expect((await call("bash", { command: "true" }, { dryRun: true })).toWire()).toEqual({
      output: "[Dry Run] Would execute: true",
      command: "true",
      mode: "default",
      dry_run: true,
      notes: [],
    });
  });

  test("has the pid, the id and the output file after a background start", async () => {
    const { run, manager } = modes();
    const result = await run("sleep 300", "background");
    const [shell] = manager.listShells();
    expect(result.toWire()).toMatchObject({
      command: "sleep 300",
      mode: "background",
      pid: shell?.started.commandPid,
      bash_id: shell?.id,
      output_file: shell?.outputFiles.stdout,
    });
  });
});

describe("a background process", () => {
  test("leads the process group that the reminder names, and its output file records its end", async () => {
    const { run } = modes();
    const result = await run("sleep 300 & sleep 301 & echo $$; wait", "background");
    const pid = Number(/<pid>(\d+)<\/pid>/.exec(result.output)?.[1]);
    const file = /<output_file>(.*)<\/output_file>/.exec(result.output)?.[1] ?? "";
    await eventually(() => expect(readFileSync(file, "utf8")).toBe(`${pid}\n`));
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    expect(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]).toBe(String(pid));
    // The model can run the reminder's kill command as its next command.
    expect((await run(`kill -9 -${pid}`)).success).toBe(true);
    await eventually(() =>
      expect(readFileSync(file, "utf8")).toBe(`${pid}\n\n\n[background process failed: exit code 137]\n`),
    );
    expect(isAlive(pid)).toBe(false);
  });

  test("that cannot start reports the reason", async () => {
    const { call } = modes();
    const workingDir = `${directory()}/gone`;
    const result = await call("bash", { command: "true", mode: "background" }, { workingDir });
    expect(result).toMatchObject({ code: "spawn_failed", metadata: { mode: "background" } });
    expect(result.error).toContain(`Working directory does not exist: ${workingDir}`);
  });
});

describe("large output", () => {
  test("is cut between characters, and the file contains all of it", async () => {
    const { run } = modes();
    const result = await run("printf 'x'; printf '😀%.0s' {1..50000}; exit 4");
    expect(result.error).toBe("[command failed: exit code 4]");
    expect(result.output).toMatch(
      /^\[output truncated in middle: got 195\.3KB, max is 128KB\]\nx(😀)+\n\n\[snip\]\n\n(😀)+$/u,
    );
    expect(result.output).not.toContain("\ufffd");
    const file = String(result.metadata["output_file"]);
    expect(readFileSync(file, "utf8")).toBe(`x${"😀".repeat(50_000)}`);
  });

  test("is reported in MB with one decimal from 1 MB on", async () => {
    const { output } = await modes().run("head -c 1258291 /dev/zero | tr '\\0' y");
    expect(output.split("\n")[0]).toBe("[output truncated in middle: got 1.2MB, max is 128KB]");
    expect(output).toMatch(/\ny{4096}\n\n\[snip\]\n\ny{4096}$/);
  });
});

test("a cancelled call is reported as cancelled, with its output", async () => {
  const { call } = modes();
  const controller = new AbortController();
  const result = await call(
    "bash",
    { command: "echo before; sleep 60" },
    { signal: controller.signal, onProgress: () => controller.abort() },
  );
  expect(result).toMatchObject({
    code: "aborted",
    error: "[command cancelled by the caller]",
    output: "before\n",
  });
});

test("no process of a cancelled call is running after the call has returned", async () => {
  const { call } = modes();
  const mark = new Mark();
  const controller = new AbortController();
  const slow = `trap "sleep 0.3; exit" TERM; sleep ${mark.next()} & wait; sleep ${mark.next()}`;
  const result = await call(
    "bash",
    { command: `setsid bash -c '${slow}' & echo begun; sleep ${mark.next()}` },
    { signal: controller.signal, onProgress: () => controller.abort() },
  );
  expect(result).toMatchObject({ code: "aborted" });
  expect(mark.processes()).toEqual([]);
});
