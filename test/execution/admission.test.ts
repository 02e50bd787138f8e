import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecutionOptions } from "../../src/execution/execution-options.ts";
import type { ApprovalRequest } from "../../src/tool/context.ts";
import { createToolkit, type Toolkit } from "../../src/toolkit.ts";
import { saying } from "../fixtures/judges.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, directory } = useTools();

describe("a command that needs approval", () => {
  test("is pending if no person can be asked, and the result names the rule and how to allow the command", async () => {
    const { judge, asked } = saying({});
    const { bash, call, manager, dir } = tools({ judge });
    const result = await bash("echo odd");
    expect(result).toMatchObject({
      success: false,
      code: "approval_pending",
      error: expect.stringMatching(
        /^Command needs approval, and no person can be asked here: It looks odd \(rule some-rule\)\. Instead: Do it another way\. A person can approve it until \S+ with: nacre approve ask_\w+, or on the page of nacre ui\. Then repeat exactly this call\. To allow it, pass an approve callback that asks a person\. Nothing was run\.$/,
      ),
      metadata: { command: "echo odd" },
    });
    expect((await call("bash", { command: "echo odd" })).code).toBe("approval_pending");
    expect([...new Set(asked.map((call) => JSON.stringify(call)))]).toEqual([
      JSON.stringify(["echo odd", dir]),
    ]);
    expect(manager.findAll()).toEqual([]);
  });

  test("runs if a person approves it, and does not run if the person refuses", async () => {
    const { bash, dir } = tools({ judge: saying({}).judge });
    const requests: ApprovalRequest[] = [];
    const answer = (yes: boolean) => async (request: ApprovalRequest) => {
      requests.push(request);
      return yes;
    };
    const command = "echo odd | tee -a ran";
    expect((await bash(command, {}, { approve: answer(true) })).output).toBe("odd\n");
    expect(await bash(command, {}, { approve: answer(false) })).toMatchObject({
      code: "approval_refused",
      error:
        "A person refused the command: It looks odd (rule some-rule). Instead: Do it another way. Nothing was run.",
    });
    expect(requests).toEqual(
      Array(2).fill({
        command,
        rule: "some-rule",
        reason: "It looks odd.",
        alternative: "Do it another way.",
        cwd: dir,
        session: "default",
        background: false,
        severity: "medium",
        span: null,
        effects: [],
      }),
    );
    expect(readFileSync(join(dir, "ran"), "utf8")).toBe("odd\n");
  });

  test("is passed to the approve callback with its directory, session and background flag", async () => {
    const { bash, call, dir, registry } = tools({ judge: saying({}).judge });
    const requests: ApprovalRequest[] = [];
    const approve = async (request: ApprovalRequest) => requests.push(request) > 100;
    mkdirSync(join(dir, "sub"));
    await bash("cd sub", {}, { approve: async () => true, sessionId: "two" });
    await bash("echo odd", { run_in_background: true }, { approve, sessionId: "two" });
    await call("bash", { command: "echo odd", mode: "background" }, { approve, sessionId: "two" });
    expect(registry.listNames()).toContain("bash");
    expect(requests.map(({ cwd, session, background }) => ({ cwd, session, background }))).toEqual([
      { cwd: join(dir, "sub"), session: "two", background: true },
      { cwd: dir, session: null, background: true },
    ]);
  });

  test("does not run if the approve callback fails", async () => {
    const { bash, manager } = tools({ judge: saying({ alternative: null }).judge });
    const approve = () => Promise.reject(new Error("the window was closed"));
    expect(await bash("echo odd", {}, { approve })).toMatchObject({
      code: "approval_refused",
      error: "Command needs approval, and asking for it failed: the window was closed. Nothing was run.",
    });
    expect(manager.findAll()).toEqual([]);
  });

  test("does not run if the caller aborts before the answer", async () => {
    const { bash, manager } = tools({ judge: saying({}).judge });
    const controller = new AbortController();
    let answer = (_: boolean) => {};
    const approve = () =>
      new Promise<boolean>((resolve) => {
        answer = resolve;
        controller.abort(new Error("never mind"));
      });
    const result = await bash(
      "echo odd",
      { run_in_background: true },
      { approve, signal: controller.signal },
    );
    expect(result).toMatchObject({ code: "aborted", error: "Call to Bash was aborted: never mind" });
    answer(true);
    expect(manager.findAll()).toEqual([]);
  });

  test("needs approval in a dry run, too", async () => {
    const { judge } = saying({});
    expect((await tools({ judge }).bash("echo odd", {}, { dryRun: true })).code).toBe("approval_refused");
  });
});

describe("a command that the policy denies", () => {
  test("is blocked with rule, reason and alternative, and no person is asked", async () => {
    const { judge } = saying({ verdict: "deny" });
    const { call, manager } = tools({ judge });
    const approve = () => Promise.reject(new Error("no person must be asked"));
    for (const tool of ["Bash", "bash"]) {
      expect(await call(tool, { command: "echo no" }, { approve })).toMatchObject({
        code: "policy_denied",
        error:
          "Command blocked as dangerous: It looks odd (rule some-rule). Instead: Do it another way. Nothing was run.",
      });
    }
    expect(manager.findAll()).toEqual([]);
  });
});

test("the profile of the host reaches the policy", async () => {
  const profiles: unknown[] = [];
  const judge: NonNullable<ExecutionOptions["judge"]> = (_, facts) => {
    profiles.push(facts.profile);
    return saying({ verdict: "allow" }).judge("", facts);
  };
  const { bash } = tools({ judge, policy: "cautious" });
  await bash("true", {}, { workingDir: directory() });
  expect(profiles).toEqual(["cautious"]);
});

describe("a text that nacre's parser cannot read", () => {
  const unparsed = {
    rule: "unparsed",
    verdict: "ask",
    severity: "medium",
    reason: "It cannot be read.",
    span: { start: 0, end: 1 },
    alternative: null,
    liftedBy: null,
  } as const;

  test("needs approval if bash can read it", async () => {
    const { judge } = saying({ rule: "unparsed", findings: [unparsed] });
    const { bash, manager } = tools({ judge });
    expect((await bash("touch ran")).code).toBe("approval_pending");
    expect(manager.findAll()).toEqual([]);
    expect((await bash("echo fine", {}, { approve: async () => true })).output).toBe("fine\n");
  });

  test("is not executed by the bash that checks its syntax", async () => {
    const { judge } = saying({ rule: "unparsed", findings: [unparsed] });
    const { bash, dir } = tools({ judge });
    for (const command of [
      "touch ran\nEOF\ntouch ran",
      "touch ran; fi",
      "set +n\ntouch ran\n(",
      "$(touch ran",
    ]) {
      await bash(command);
    }
    expect((await bash("ls -A", {}, { approve: async () => true, workingDir: dir })).output).toBe("");
  });
});

type Approve = (request: ApprovalRequest) => Promise<boolean>;

describe("an approval for one directory", () => {
  const COMMAND = "touch ran";

  /** Functions that run the command in the default session through different APIs, each with an approve callback. */
  const RUNNERS: Readonly<Record<string, (kit: Toolkit, approve: Approve) => Promise<unknown>>> = {
    "a call": (kit, approve) => kit.call("Bash", { command: COMMAND }, { approve }),
    "a call in the background": async (kit, approve) => {
      const args = { command: COMMAND, run_in_background: true };
      const { metadata } = await kit.call("Bash", args, { approve });
      await kit.shells.get(String(metadata.bash_id))?.wait();
    },
    "session.run": (kit, approve) => kit.session("default", { approve }).run(COMMAND),
    "session.start": async (kit, approve) => {
      const shell = await kit.session("default", { approve }).start(COMMAND);
      await shell.wait();
    },
  };

  const kitIn = async (base: string, judge = saying({}).judge) => {
    const workingDir = join(base, "work");
    for (const dir of [workingDir, join(workingDir, "first"), join(workingDir, "second")]) mkdirSync(dir);
    const kit = await createToolkit({ workingDir, stateRoot: join(base, "state"), judge });
    await kit.call("Bash", { command: "cd first" }, { approve: async () => true });
    return { kit, workingDir };
  };

  /**
   * Starts a runner, calls `meanwhile`, approves the first request and refuses the next. Returns the
   * requests.
   */
  const requestsOf = async (run: (typeof RUNNERS)[string], kit: Toolkit, meanwhile: () => unknown) => {
    const asked: ApprovalRequest[] = [];
    await run(kit, async (request) => {
      asked.push(request);
      if (asked.length > 1) return false;
      await meanwhile();
      return true;
    }).catch((error) => expect(error).toMatchObject({ code: "approval_refused" }));
    return asked;
  };

  const moveTo = (kit: Toolkit, dir: string) =>
    kit.call("Bash", { command: `cd ${dir}` }, { approve: async () => true });

  test.each(Object.entries(RUNNERS))("does not count for another: %s", async (_, run) => {
    const { kit, workingDir } = await kitIn(directory());
    await using _kit = kit;
    const asked = await requestsOf(run, kit, () => moveTo(kit, "../second"));
    expect(asked.map(({ cwd }) => cwd)).toEqual([join(workingDir, "first"), join(workingDir, "second")]);
    for (const dir of ["first", "second"]) expect(existsSync(join(workingDir, dir, "ran"))).toBe(false);
  });

  test.each(Object.entries(RUNNERS))(
    "does not count for another directory, even if the policy allows the command there: %s",
    async (_, run) => {
      const { judge } = saying({});
      const allowSecond: typeof judge = (command, facts) =>
        facts.cwd.endsWith("second")
          ? saying({ verdict: "allow", rule: null }).judge(command, facts)
          : judge(command, facts);
      const { kit, workingDir } = await kitIn(directory(), allowSecond);
      await using _kit = kit;
      const asked = await requestsOf(run, kit, () => moveTo(kit, "../second"));
      expect(asked.map(({ cwd, rule }) => [cwd, rule])).toEqual([
        [join(workingDir, "first"), "some-rule"],
        [join(workingDir, "second"), "some-rule"],
      ]);
      for (const dir of ["first", "second"]) expect(existsSync(join(workingDir, dir, "ran"))).toBe(false);
    },
  );

  test.each(Object.entries(RUNNERS))(
    "does not count after that directory was renamed: %s",
    async (_, run) => {
      const { kit, workingDir } = await kitIn(directory());
      await using _kit = kit;
      const asked = await requestsOf(run, kit, () =>
        renameSync(join(workingDir, "first"), join(workingDir, "elsewhere")),
      );
      expect(asked.map(({ cwd }) => cwd)).toEqual([join(workingDir, "first"), join(workingDir, "elsewhere")]);
      expect(existsSync(join(workingDir, "elsewhere", "ran"))).toBe(false);
      expect(existsSync(join(workingDir, "ran"))).toBe(false);
    },
  );

  test("counts if the session returns to that directory before the command's turn", async () => {
    const { kit, workingDir } = await kitIn(directory());
    await using _kit = kit;
    let questions = 0;
    const approve = async () => {
      questions += 1;
      await kit.call("Bash", { command: "cd ../second; cd ../first" }, { approve: async () => true });
      return true;
    };
    expect(await kit.call("Bash", { command: COMMAND }, { approve })).toMatchObject({ success: true });
    expect(questions).toBe(1);
    expect(existsSync(join(workingDir, "first", "ran"))).toBe(true);
  });
});

test("a refusal names rule, reason, alternative and directory, whether it is thrown or in metadata", async () => {
  const { judge } = saying({ verdict: "deny" });
  const base = directory();
  await using kit = await createToolkit({ workingDir: base, stateRoot: join(base, "state"), judge });
  const fields = { rule: "some-rule", reason: "It looks odd.", alternative: "Do it another way.", cwd: base };
  expect((await kit.call("Bash", { command: "true" })).metadata).toMatchObject(fields);
  await expect(kit.session().run("true")).rejects.toMatchObject({ code: "policy_denied", ...fields });
});
