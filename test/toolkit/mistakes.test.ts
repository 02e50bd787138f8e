// Mistakes in calls of the library: each error names the value at fault, the problem and the remedy.
import { describe, expect, test, vi } from "vitest";
import { createToolkit, NacreError } from "../../src/index.ts";
import { useToolkit } from "../fixtures/toolkit.ts";

vi.stubEnv("NACRE_TEST_API_KEY", "dropped-value-4711");
const kit = useToolkit();

async function errorOf(call: () => unknown): Promise<NacreError> {
  const error = await (async () => await call())().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(NacreError);
  return error as NacreError;
}

/** The kit without its types, as a JavaScript program sees it. */
const loose = () => kit() as unknown as Record<"run" | "check" | "sh", (...args: unknown[]) => unknown>;

describe("a command that is not a string", () => {
  const calls: Record<string, (command?: unknown) => unknown> = {
    "kit.run": (command) => loose().run(command),
    "kit.run in a session": (command) => loose().run(command, { session: "s" }),
    "kit.check": (command) => loose().check(command),
    "session.run": (command) =>
      kit()
        .session("s")
        .run(command as string),
    "session.start": (command) =>
      kit()
        .session("s")
        .start(command as string),
  };
  test.each(Object.entries(calls))("%s names the value that it got", async (_, call) => {
    expect(await errorOf(() => call())).toMatchObject({
      code: "invalid_input",
      message: "The command must be a string; it is undefined.",
    });
    expect(await errorOf(() => call(5))).toMatchObject({
      code: "invalid_input",
      message: "The command must be a string; it is 5.",
    });
    expect(await errorOf(() => call(["ls", "-la"]))).toMatchObject({
      code: "invalid_input",
      message: `The command must be a string; it is an array. kit.sh\`ls \${args}\` quotes a list.`,
    });
  });
});

describe("the timeout of a wait", () => {
  test("must be a number of milliseconds", async () => {
    const shell = await kit().session("w").start("echo up; sleep 60");
    for (const wrong of ["300", -5, Number.NaN, null]) {
      const error = await errorOf(() => shell.waitFor("never", wrong as number));
      expect(error.code).toBe("invalid_input");
      expect(error.message).toContain("The timeout of a wait must be");
    }
    expect((await errorOf(() => shell.wait("300" as unknown as number))).message).toContain(
      'it is the string "300"',
    );
    expect((await errorOf(() => shell.waitFor("exit", -5))).message).toContain("it is -5");
    await shell.kill();
  });

  test("can be the property timeoutMs of an object", async () => {
    const shell = await kit().session("w").start("echo up; sleep 60");
    const error = await errorOf(() => shell.waitFor("never", { timeoutMs: 300 }));
    expect(error).toMatchObject({ code: "timed_out", message: expect.stringContaining("Waited 300ms") });
    const wrong = { timeoutMS: 300 } as object;
    expect((await errorOf(() => shell.waitFor("never", wrong))).message).toContain("Did you mean timeoutMs?");
    const cancelled = { signal: AbortSignal.abort() };
    expect((await errorOf(() => shell.waitFor("never", cancelled))).code).toBe("aborted");
    expect((await shell.waitFor(/u(p)/, { timeoutMs: 20_000 })).line).toBe("up");
    await shell.kill();
  });
});

test("the JSON of an error contains its message and its data", async () => {
  const refused = await errorOf(() => kit().run("rm -rf /"));
  expect(JSON.parse(JSON.stringify(refused))).toEqual({
    name: "NacreError",
    code: "policy_denied",
    message: refused.message,
    ...{ rule: refused.rule, reason: refused.reason, alternative: refused.alternative },
    ...{ cwd: refused.cwd, span: refused.span },
  });
  const plain = new NacreError("internal", "It broke.", { cause: new Error("secret detail") });
  expect(JSON.stringify(plain)).toBe('{"name":"NacreError","code":"internal","message":"It broke."}');
});

test("a syntax error contains bash's message", async () => {
  const error = await errorOf(() => kit().run("echo 'a"));
  expect(error).toMatchObject({ code: "exit_nonzero" });
  expect(error.message).toMatch(
    /^bash cannot read the command: nothing was run\. bash: line \d+: .*matching `''/,
  );
  expect(error.message).not.toMatch(/\n$/);
});

test("if kit.sh is called as a function, the error suggests kit.run", async () => {
  const error = await errorOf(() => loose().sh("ls"));
  expect(error).toMatchObject({
    code: "invalid_input",
    message: 'kit.sh is a template tag: write kit.sh`…`, or kit.run("ls").',
  });
});

describe("the return value of approve", () => {
  test.each([
    [undefined, "undefined"],
    ["yes", 'the string "yes"'],
    [1, "1"],
    [{ allow: "yes" }, "an object"],
    [{}, "an object"],
  ])("%j is refused as a mistake of the host", async (answer, shown) => {
    const approve = (() => answer) as unknown as () => boolean;
    const error = await errorOf(() => kit().session("a", { approve }).run("rm -rf .git"));
    expect(error.code).toBe("approval_refused");
    expect(error.message).toContain(`approve returned ${shown}; only true or { allow: true } approves.`);
    expect(error.message).not.toContain("A person refused");
  });

  test("false or { allow: false } is a refusal by a person", async () => {
    for (const answer of [false, { allow: false }]) {
      const error = await errorOf(() =>
        kit()
          .session("a", { approve: () => answer })
          .run("rm -rf .git"),
      );
      expect(error.message).toContain("A person refused the command");
    }
  });
});

describe("an abort", () => {
  const runs: Record<string, (signal: AbortSignal) => unknown> = {
    "kit.run": (signal) => kit().run("ls", { signal }),
    "kit.run in a session": (signal) => kit().run("ls", { signal, session: "s" }),
    "session.run": (signal) => kit().session("s").run("ls", { signal }),
    "session.start": (signal) => kit().session("s").start("ls", { signal }),
  };
  test.each(Object.entries(runs))(
    "before the start makes %s throw an error with the code aborted and the reason as its cause",
    async (_, run) => {
      const error = await errorOf(() => run(AbortSignal.abort("because")));
      expect(error).toMatchObject({ code: "aborted", cause: "because" });
      expect(await errorOf(() => run(AbortSignal.abort()))).toMatchObject({
        code: "aborted",
        cause: { name: "AbortError" },
      });
    },
  );

  test("during the run is reported in the result", async () => {
    const stop = new AbortController();
    const onOutput = () => stop.abort();
    const result = await kit().run("echo up; sleep 60", { signal: stop.signal, onOutput });
    expect(result).toMatchObject({ aborted: true, timedOut: false });
    expect(await kit().run("true")).toMatchObject({ aborted: false });
  });
});

describe("a wrong option", () => {
  test("is refused with the name of the corresponding option", async () => {
    expect((await errorOf(() => createToolkit({ cwd: "/tmp" } as object))).message).toBe(
      "createToolkit has no option cwd. Did you mean workingDir?",
    );
    expect((await errorOf(() => loose().run("cat", { stdin: "a" }))).message).toBe(
      "kit.run has no option stdin. Did you mean input?",
    );
    expect((await errorOf(() => loose().run("ls", { workingDir: "/tmp" }))).message).toBe(
      "kit.run has no option workingDir. Did you mean cwd?",
    );
  });

  test("in env is refused with the name of the variable whose value is not a string", async () => {
    expect((await errorOf(() => loose().run("ls", { env: { B: "b", A: undefined } }))).message).toBe(
      "The option env.A must be a string; it is undefined.",
    );
  });
});

test("if KillShell gets bash_id, the error suggests shell_id", async () => {
  const result = await kit().call("KillShell", { bash_id: "x" } as never);
  expect(result.error).toContain("Did you mean shell_id?");
});

test("a failed command that names a dropped variable gets a note about that variable", async () => {
  const command = "false $NACRE_TEST_API_KEY";
  const note = expect.stringMatching(/^Not passed on .*: NACRE_TEST_API_KEY$/);
  expect((await kit().run(command)).notes).toEqual([note]);
  expect((await kit().session("d").run(command)).notes).toContainEqual(note);
  expect((await kit().run("false $NACRE_TEST_API_KEYS")).notes).toEqual([]);
});
