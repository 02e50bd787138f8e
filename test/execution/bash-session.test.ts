// Calls of the tool Bash share one bash process, whose state persists between calls. A result reports its end.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecutionOptions } from "../../src/execution/execution-options.ts";
import { judge } from "../../src/policy/judge.ts";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, directory } = useTools();

describe("the next call", () => {
  test("has the directory, variables, functions, aliases, options and jobs of the previous call", async () => {
    const { bash, dir } = tools();
    mkdirSync(join(dir, "sub"));
    const moved = await bash(
      "cd sub; export E=exported; plain=(a 'b c'); f() { echo f:$1; }; alias hi='echo hello'; set -o pipefail; sleep 0.1 &",
    );
    expect(moved.metadata).toMatchObject({ exit_code: 0, cwd: join(dir, "sub") });
    const next = await bash(
      `pwd; printenv E; echo "\${plain[1]}"; f x; hi; false | true; echo $?; wait %1; echo $?`,
    );
    expect(next.output).toBe(`${join(dir, "sub")}\nexported\nb c\nf:x\nhello\n1\n0\n`);
    expect(next.metadata).not.toHaveProperty("cwd");
    expect(next.metadata).not.toHaveProperty("restarted");
  });

  test("has none of that state in another session or scope", async () => {
    const { bash } = tools();
    await bash("x=mine");
    await bash("x=other", {}, { sessionId: "other" });
    await bash("x=elsewhere", {}, { scope: "elsewhere" });
    const seen = await Promise.all([
      bash("echo $x"),
      bash("echo $x", {}, { sessionId: "default" }),
      bash("echo $x", {}, { sessionId: "other" }),
      bash("echo $x", {}, { scope: "elsewhere" }),
      bash("echo $x", {}, { sessionId: "third" }),
    ]);
    expect(seen.map(({ output }) => output)).toEqual(["mine\n", "mine\n", "other\n", "elsewhere\n", "\n"]);
  });

  test("starts with clean state in the modes dialect", async () => {
    const { call } = tools();
    await call("bash", { command: "x=1; cd /" });
    expect((await call("bash", { command: "echo [$x]" })).output).toBe("[]\n");
  });

  test("first enters its own directory if it has one; a call's variables last only for that call", async () => {
    const { bash, dir } = tools();
    const other = directory();
    await bash("cd /");
    expect((await bash("pwd")).output).toBe("/\n");
    const there = await bash("pwd; echo $V", {}, { workingDir: other, env: { V: "v" } });
    expect(there.output).toBe(`${other}\nv\n`);
    expect((await bash("pwd; echo [$V]", {}, { workingDir: other })).output).toBe(`${other}\n[]\n`);
    expect((await bash("pwd")).output).toBe(`${dir}\n`);
  });

  test("has the state from before a call that exited bash, and that call reports the restart", async () => {
    const { bash } = tools();
    await bash("x=kept");
    const ended = await bash("x=lost; echo last words; exit 3");
    expect(ended).toMatchObject({
      code: "exit_nonzero",
      error: "Command failed with exit code 3",
      output: "last words\n",
      metadata: { exit_code: 3, restarted: true },
    });
    expect(ended.notes.join()).toContain("A new one continues with the directory, variables");
    expect((await bash("echo $x")).output).toBe("kept\n");
  });

  test("runs in the nearest existing parent, with a note, if its directory was removed", async () => {
    const { bash, dir } = tools();
    await bash("mkdir -p a/b && cd a/b");
    rmSync(join(dir, "a"), { recursive: true });
    const result = await bash("pwd");
    expect(result.output).toBe(`${dir}\n`);
    expect(result.notes).toContain(
      `The working directory ${join(dir, "a/b")} is gone; this command ran in ${dir}.`,
    );
  });

  test("waits for the previous call, reports the wait as progress, and can be cancelled", async () => {
    const { bash } = tools();
    const messages: string[] = [];
    const onProgress = ({ message }: { message: string }) => messages.push(message);
    const first = bash("mkfifo gate; read -r < gate; echo first");
    const second = bash("echo second", {}, { onProgress });
    const cancelling = new AbortController();
    const third = bash("echo third", {}, { onProgress, signal: cancelling.signal });
    await eventually(() =>
      expect(messages).toEqual([
        "Waiting for the previous command in this session to finish.",
        "Waiting for 2 earlier commands in this session to finish.",
      ]),
    );
    cancelling.abort();
    expect(await third).toMatchObject({
      code: "aborted",
      error:
        "Failed to execute command: The call was cancelled before its turn came; the command was not run.",
    });
    await bash("until [[ -p gate ]]; do :; done; echo > gate", {}, { sessionId: "other" });
    expect((await Promise.all([first, second])).map(({ output }) => output)).toEqual(["first\n", "second\n"]);
  });
});

describe("the policy", () => {
  test("judges a command in the directory of the session", async () => {
    const { bash } = tools();
    await bash("cd /");
    expect(await bash("rm -rf *")).toMatchObject({ code: "policy_denied" });
  });

  test("gets the exact bytes of a working directory whose name is not valid UTF-8", async () => {
    const directories: string[] = [];
    const { bash, call, dir } = tools({
      judge: (command, facts) => {
        directories.push(facts.cwd);
        return judge(command, facts);
      },
    });
    mkdirSync(join(dir, "d\ufffd"));
    const moved = await bash("mkdir $'d\\xff'; cd $'d\\xff'");
    expect(moved.metadata).toMatchObject({ cwd: `$'${dir}/d\\xff'` });
    const refused = await bash("rm -rf /nowhere/at-all");
    expect(refused.metadata).toMatchObject({ rule: "delete-outside", cwd: `$'${dir}/d\\xff'` });
    await call("Bash", { command: "true", run_in_background: true });
    expect(new Set(directories)).toEqual(new Set([dir, `${dir}/d\udcff`]));
  });

  test("judges a command again if a call in between has changed the directory", async () => {
    const asked: string[] = [];
    const watching: NonNullable<ExecutionOptions["judge"]> = (command, facts) => {
      asked.push(`${command} in ${facts.cwd}`);
      return command === "touch ran" && facts.cwd !== facts.workspace
        ? { ...judge("true", facts), verdict: "deny", rule: "outside", reason: "Not there." }
        : judge("true", facts);
    };
    const { bash, dir } = tools({ judge: watching });
    mkdirSync(join(dir, "sub"));
    const [, second] = await Promise.all([bash("cd sub"), bash("touch ran")]);
    expect(second).toMatchObject({ code: "policy_denied" });
    expect(asked).toEqual([`cd sub in ${dir}`, `touch ran in ${dir}`, `touch ran in ${dir}/sub`]);
    expect((await bash("ls; echo still there")).output).toBe("still there\n");
  });
});

describe("output", () => {
  test("of other calls is not in the file that the result of a call names", async () => {
    const { bash } = tools({ maxOutputChars: 1000 });
    await bash("echo noise; echo noise >&2");
    const long = await bash("seq 1000; echo oops >&2");
    await bash("echo more noise");
    expect(long.metadata["truncated"]).toBe(true);
    const whole = Array.from({ length: 1000 }, (_, i) => `${i + 1}\n`).join("");
    expect(readFileSync(String(long.metadata["output_file"]), "utf8")).toBe(whole);
    const [, errors = ""] = /\(stderr: (\S+)\)/.exec(long.output) ?? [];
    expect(readFileSync(errors, "utf8")).toBe("oops\n");
  });

  test("contains line numbers relative to the command, not to the session", async () => {
    const { bash } = tools();
    await bash("true");
    expect((await bash("true\nnonexistent-command")).output).toBe(
      "[stderr]\nbash: line 2: nonexistent-command: command not found\n",
    );
  });

  test("of a leftover is not in the result of another command, and can be read with the leftover's id", async () => {
    const { bash, call, dir } = tools();
    const left = await bash("mkfifo gate; { read -r < gate; echo late; } & echo now");
    const { bash_id } = left.metadata;
    expect(left.output).toBe("now\n");
    expect((await bash("echo next")).output).toBe("next\n");
    writeFileSync(join(dir, "gate"), "\n");
    expect((await bash("wait; echo waited")).output).toBe("waited\n");
    const read = await call("BashOutput", { bash_id });
    expect(read.output).toMatch(/^Status: completed, Exit code: 0, Duration: \d+ms\n\nnow\nlate\n$/);
  });
});

describe("KillShell", () => {
  test("ends the leftovers of one command, but not the session or the leftovers of other commands", async () => {
    const { bash, call } = tools();
    const marks = new Mark();
    const [one, two] = [marks.next(), marks.next()];
    await bash("x=kept");
    const first = await bash(`setsid sleep ${one} &`);
    await bash(`setsid sleep ${two} &`);
    await eventually(() => expect(marks.processes()).toHaveLength(2));
    const killed = await call("KillShell", { shell_id: first.metadata["bash_id"] });
    expect(killed.metadata).toMatchObject({ survivors: [], already_stopped: true });
    await eventually(() => expect(marks.processes().map(({ command }) => command)).toEqual([`sleep ${two}`]));
    const after = await bash("echo $x");
    expect(after.output).toBe("kept\n");
    expect(after.metadata).not.toHaveProperty("restarted");
  });
});

describe("a timeout with onTimeout: background", () => {
  test("turns the session's bash into a background shell, and a new bash gets the previous state", async () => {
    const { bash, call } = tools({ onTimeout: "background", defaultTimeoutMs: 300 });
    await bash("x=kept; echo earlier");
    const result = await bash("x=lost; echo early; sleep 1; echo late");
    const { bash_id } = result.metadata;
    expect(result).toMatchObject({ success: true, metadata: { restarted: true, exit_code: null } });
    expect(result.output).toMatch(/Output so far:\nearly\n$/);
    expect((await bash("echo $x")).output).toBe("kept\n");
    const read = await call("BashOutput", { bash_id, wait_for: "exit" });
    expect(read.output).toMatch(/^Status: completed, Exit code: 0, Duration: \d+ms\n\nearly\nlate\n$/);
  });
});

describe("a background command", () => {
  test("starts with the session's directory, exports and functions, and does not change the session", async () => {
    const { bash, call, dir } = tools();
    mkdirSync(join(dir, "sub"));
    await bash("cd sub; export E='two words'; f() { echo f:$1; }; plain=1");
    const started = await bash("pwd; echo $E; f x; echo [$plain]; E=changed; cd /", {
      run_in_background: true,
    });
    const read = await call("BashOutput", { bash_id: started.metadata["bash_id"], wait_for: "exit" });
    expect(read.output).toContain(`\n\n${join(dir, "sub")}\ntwo words\nf:x\n[]\n`);
    expect((await bash("pwd; echo $E")).output).toBe(`${join(dir, "sub")}\ntwo words\n`);
  });

  test("is durable if its host has set the option `durable`, and keeps its inherited state", async () => {
    const { bash, manager } = tools({ durable: true });
    await bash("export E=kept");
    const started = await bash("echo $E", { run_in_background: true });
    const shell = manager.getShell(String(started.metadata["bash_id"]));
    expect(shell?.durable).toBe(true);
    await shell?.wait(10_000);
    expect(shell?.getAllOutput()).toBe("kept\n");
  });
});
