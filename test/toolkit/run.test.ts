// kit.run, kit.sh and session.run: the API for programs that run commands directly.
import { randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ApprovalRequest, NacreError, shellQuote } from "../../src/index.ts";
import { deferred } from "../../src/support/timing.ts";
import { useToolkit } from "../fixtures/toolkit.ts";

const kit = useToolkit();

async function errorOf(run: PromiseLike<unknown>): Promise<NacreError> {
  const error = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(NacreError);
  return error as NacreError;
}

describe("kit.run", () => {
  test("runs without a timeout if timeoutMs is Infinity, even in a session", async () => {
    const options = { timeoutMs: Number.POSITIVE_INFINITY };
    expect((await kit().run("echo alone", options)).stdout).toBe("alone\n");
    expect((await kit().run("echo inside", { ...options, session: "s" })).stdout).toBe("inside\n");
    expect((await kit().session("s").run("echo more", options)).ok).toBe(true);
    const shell = await kit().session("s").start("echo started", options);
    expect(await shell.wait(20_000)).toBe(0);
  });

  test("resolves to the complete result, even if the command failed or timed out", async () => {
    expect(await kit().run("echo out; echo err >&2")).toMatchObject({
      ok: true,
      exitCode: 0,
      stdout: "out\n",
      stderr: "err\n",
      output: "out\n[stderr]\nerr\n",
      durationMs: expect.any(Number),
      timedOut: false,
    });
    expect(await kit().run("exit 3")).toMatchObject({ ok: false, exitCode: 3 });
    expect(await kit().run("echo a; sleep 60", { timeoutMs: 300 })).toMatchObject({
      ok: false,
      timedOut: true,
      stdout: "a\n",
    });
  });

  test("accepts input, a directory, variables and a session", async () => {
    expect((await kit().run("cat", { input: "x" })).stdout).toBe("x");
    expect((await kit().run("cat", { input: "" })).stdout).toBe("");
    expect((await kit().run("cat", { input: Buffer.from([0xc3, 0xa4]) })).stdout).toBe("ä");
    expect((await kit().run("cat", { input: Readable.from(["a", "b"]) })).stdout).toBe("ab");
    expect((await kit().run("pwd; echo $A", { cwd: "/usr", env: { A: "1" } })).stdout).toBe("/usr\n1\n");
    await kit().run("cd /etc; B=2", { session: "build" });
    expect((await kit().run("pwd; echo $B", { session: "build" })).stdout).toBe("/etc\n2\n");
    expect((await kit().run("pwd", { session: "build", cwd: "/usr" })).stdout).toBe("/usr\n");
    await kit().run("cd /", { session: "build" });
    expect((await kit().run("pwd", { session: "build", cwd: "/usr" })).stdout).toBe("/usr\n");
    expect(await errorOf(kit().run("cat", { session: "build", input: "x" }))).toMatchObject({
      message: expect.stringContaining("commands of a session have no stdin"),
    });
  });

  test.each([
    ["a separate bash", {}],
    ["a session", { session: "live" }],
  ])("streams the output of %s while the command runs", async (_, options) => {
    const received: string[] = [];
    // The order of lines from two streams is not defined. The command prints the second line after the first arrives.
    const go = join(tmpdir(), `nacre-test-${randomUUID()}`);
    onTestFinished(() => rmSync(go, { force: true }));
    const command = `echo one; until [ -e ${go} ]; do sleep 0.02; done; echo two >&2`;
    const onOutput = ({ stream, text }: { readonly stream: string; readonly text: string }) => {
      received.push(stream + text);
      writeFileSync(go, "");
    };
    const run = kit().run(command, { ...options, onOutput });
    const read: string[] = [];
    for await (const { stream, text } of run) read.push(stream + text);
    expect(read.join("")).toBe("stdoutone\nstderrtwo\n");
    expect((await run).ok).toBe(true);
    expect(received).toEqual(read);
    // A late reader gets the entire output of this run, but not the output of later commands.
    await kit().run("echo three", options);
    const late: string[] = [];
    for await (const { text } of run) late.push(text);
    expect(late.join("")).toBe("one\ntwo\n");
  });

  test("delivers the first output before the command ends", async () => {
    const first = deferred();
    const stop = new AbortController();
    const onOutput = () => first.resolve();
    const run = kit().run("echo ready; sleep 300", { signal: stop.signal, onOutput });
    await first.promise;
    stop.abort();
    expect(await run).toMatchObject({ ok: false, outcome: { kind: "aborted" }, stdout: "ready\n" });
  });

  test("continues if the listener throws, and adds a note", async () => {
    const onOutput = () => {
      throw new Error("full");
    };
    expect(await kit().run("echo a; echo b", { onOutput })).toMatchObject({
      ok: true,
      stdout: "a\nb\n",
      notes: ["The output listener failed: full"],
    });
  });

  test("throws an error with the rule and the reason if the command is refused, also in a for await loop", async () => {
    const refusal = {
      code: "policy_denied",
      rule: "delete-root",
      reason: expect.stringContaining("rm"),
      alternative: expect.any(String),
      cwd: expect.stringMatching(/^\//),
      span: { start: 7, end: 8 },
    };
    expect(await errorOf(kit().run("rm -rf /"))).toMatchObject(refusal);
    const iterate = async () => {
      for await (const _ of kit().run("rm -rf /")) throw new Error("there is no output");
    };
    expect(await errorOf(iterate())).toMatchObject(refusal);
    expect((await kit().call("Bash", { command: "rm -rf /" })).metadata).toMatchObject({
      rule: "delete-root",
      span: { start: 7, end: 8 },
    });
  });

  test("returns a result that can be cloned and converted to JSON, including its shell", async () => {
    const result = await kit().run("echo hi");
    expect(structuredClone(result)).toEqual(result);
    const session = kit().session("json");
    const moved = await session.run("sleep 300", { timeoutMs: 200, onTimeout: "background" });
    const { shell } = JSON.parse(JSON.stringify(moved));
    expect(shell).toMatchObject({ id: moved.shell?.id, command: "sleep 300", status: "running" });
    expect(JSON.parse(JSON.stringify(session))).toMatchObject({ id: "json", isBusy: false });
    expect(await kit().shells.killAll()).toBe(1);
    expect(JSON.stringify(await session.run("sleep 300 & echo x"))).toContain('"leftovers":[{"pid"');
  });
});

test("a person who is asked sees the effects of the command, and can give a reason for a refusal", async () => {
  const requests: ApprovalRequest[] = [];
  const approve = (request: ApprovalRequest) => {
    requests.push(request);
    return { allow: request.command.includes("--dry-run"), reason: "not before Monday" };
  };
  const session = kit().session("asked", { approve });
  const error = await errorOf(session.run("git init -q .; git clean -fdx"));
  expect(error).toMatchObject({ code: "approval_refused", rule: expect.any(String) });
  expect(error.message).toContain('The answer was: "not before Monday". Nothing was run.');
  expect(JSON.parse(JSON.stringify(requests))).toMatchObject([
    {
      command: "git init -q .; git clean -fdx",
      cwd: expect.stringMatching(/^\//),
      session: "asked",
      severity: expect.stringMatching(/^(low|medium|high|critical)$/),
      rule: error.rule,
      effects: expect.arrayContaining([expect.objectContaining({ effect: expect.any(String) })]),
    },
  ]);
});

describe("kit.sh", () => {
  const odd = 'it\'s; $(echo no) `no` "x" *';

  test("quotes interpolated values", async () => {
    expect((await kit().sh`printf '%s|' ${odd} ${["a b", 2]} ${true}`).stdout).toBe(`${odd}|a b|2|true|`);
    expect((await kit().sh({ cwd: "/usr" })`pwd`).stdout).toBe("/usr\n");
    expect((await kit().run(`printf %s ${shellQuote(odd)}`)).stdout).toBe(odd);
  });

  test.each([
    ["double quotes", () => kit().sh`echo "x ${odd}"`],
    ["single quotes", () => kit().sh`echo 'x ${odd}'`],
    ["quotes", () => kit().sh`echo "a" $'it\\'s ${odd}'`],
    ["backquotes", () => kit().sh`echo \`echo ${odd}\``],
    ["a comment", () => kit().sh`echo x # ${"\necho no"}`],
    ["arithmetic", () => kit().sh`echo $((1 + ${odd}))`],
    ["a here-document", () => kit().sh`cat <<E\n${odd}\nE`],
  ])("refuses a value inside %s, where bash would expand it", async (_, run) => {
    expect(await errorOf(run())).toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/^Value 1 is inside .*, where quoting does not protect it/),
    });
  });

  test("accepts a value after closed quotes, comments and escapes", async () => {
    const run = kit().sh`# it's "fine"
      echo "a#b" \\" ${"c d"} 'e' ${"f"}`;
    expect((await run).stdout).toBe('a#b " c d e f\n');
  });

  test("refuses a value that cannot be a word", async () => {
    const missing = undefined as unknown as string;
    expect(await errorOf(kit().sh`echo ${missing}`)).toMatchObject({
      message: expect.stringContaining("Value 1 cannot be a word of a command"),
    });
  });
});

describe("a wait for a shell", () => {
  test("accepts a string, a pattern or exit", async () => {
    const shell = await kit().session("w").start("echo it is up; exit 0");
    expect(await shell.waitFor("is up")).toMatchObject({ kind: "matched", line: "it is up" });
    expect(await shell.waitFor(/^it/)).toMatchObject({ kind: "matched" });
    expect(await shell.waitFor({ pattern: "up" })).toMatchObject({ kind: "matched" });
    expect(await shell.waitFor("exit")).toMatchObject({ kind: "ended" });
    expect(await errorOf(shell.waitFor("never"))).toMatchObject({
      code: "no_match",
      message: expect.stringContaining("exited with code 0 before a line matched"),
    });
    const failed = await kit().session("w").start("exit 2");
    expect(await errorOf(failed.waitFor("never"))).toMatchObject({ code: "exit_nonzero" });
  });

  test("can be cancelled, and so can a read of the output", async () => {
    const shell = await kit().session("w").start("echo a; sleep 300");
    const stop = new AbortController();
    const read: string[] = [];
    for await (const { text } of shell.output({ signal: stop.signal })) {
      read.push(text);
      stop.abort();
    }
    expect(read).toEqual(["a\n"]);
    expect(await errorOf(shell.waitFor({ exit: true, signal: stop.signal }))).toMatchObject({
      code: "aborted",
    });
    await shell.kill();
  });
});
