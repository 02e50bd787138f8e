import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecutionOptions } from "../../src/execution/options.ts";
import type { Verdict } from "../../src/policy/verdict.ts";
import type { ApprovalRequest } from "../../src/tool/context.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, directory } = useTools();

/** A judge that says this about every command, and remembers what it was asked. */
function saying(verdict: Partial<Verdict>) {
  const asked: unknown[] = [];
  const judge: NonNullable<ExecutionOptions["judge"]> = (command, facts) => {
    asked.push([command, facts.cwd]);
    return {
      verdict: "ask",
      rule: "some-rule",
      severity: "medium",
      reason: "It looks odd.",
      span: null,
      alternative: "Do it another way.",
      findings: [],
      ...verdict,
    };
  };
  return { judge, asked };
}

describe("a command that the policy wants asked about", () => {
  test("is refused where nobody can answer, with the rule and how to allow it", async () => {
    const { judge, asked } = saying({});
    const { bash, call, manager, dir } = tools({ judge });
    const result = await bash("echo odd");
    expect(result).toMatchObject({
      success: false,
      code: "approval_refused",
      error:
        "Command needs approval, and nobody is there to ask: It looks odd. (rule some-rule). Instead: Do it another way. To allow it, pass an approve callback that asks a person. Nothing was run.",
      metadata: { command: "echo odd" },
    });
    expect((await call("bash", { command: "echo odd" })).code).toBe("approval_refused");
    expect([...new Set(asked.map((one) => JSON.stringify(one)))]).toEqual([
      JSON.stringify(["echo odd", dir]),
    ]);
    expect(manager.findAll()).toEqual([]);
  });

  test("runs when a person says yes, and not when they say no", async () => {
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
        "A person refused the command: It looks odd. (rule some-rule). Instead: Do it another way. Nothing was run.",
    });
    expect(requests).toEqual(
      Array(2).fill({
        command,
        rule: "some-rule",
        reason: "It looks odd.",
        alternative: "Do it another way.",
      }),
    );
    expect(readFileSync(join(dir, "ran"), "utf8")).toBe("odd\n");
  });

  test("does not run when asking fails", async () => {
    const { bash, manager } = tools({ judge: saying({ alternative: null }).judge });
    const approve = () => Promise.reject(new Error("the window was closed"));
    expect(await bash("echo odd", {}, { approve })).toMatchObject({
      code: "approval_refused",
      error: "Command needs approval, and asking for it failed: the window was closed. Nothing was run.",
    });
    expect(manager.findAll()).toEqual([]);
  });

  test("does not run when the caller has given up before the answer came", async () => {
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

  test("is asked about in a dry run, too", async () => {
    const { judge } = saying({});
    expect((await tools({ judge }).bash("echo odd", {}, { dryRun: true })).code).toBe("approval_refused");
  });
});

describe("a command that the policy denies", () => {
  test("is blocked with rule, reason and alternative; nobody is asked", async () => {
    const { judge } = saying({ verdict: "deny" });
    const { call, manager } = tools({ judge });
    const approve = () => Promise.reject(new Error("nobody is to be asked"));
    for (const tool of ["Bash", "bash"]) {
      expect(await call(tool, { command: "echo no" }, { approve })).toMatchObject({
        code: "policy_denied",
        error:
          "Command blocked as dangerous: It looks odd. (rule some-rule). Instead: Do it another way. Nothing was run.",
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

describe("a text that our parser cannot read", () => {
  const unparsed = {
    rule: "unparsed",
    verdict: "ask",
    severity: "medium",
    reason: "It cannot be read.",
    span: { start: 0, end: 1 },
    alternative: null,
    liftedBy: null,
  } as const;

  test("but bash can is asked about", async () => {
    const { judge } = saying({ rule: "unparsed", findings: [unparsed] });
    const { bash, manager } = tools({ judge });
    expect((await bash("touch ran")).code).toBe("approval_refused");
    expect(manager.findAll()).toEqual([]);
    expect((await bash("echo fine", {}, { approve: async () => true })).output).toBe("fine\n");
  });

  test("cannot talk bash into running it", async () => {
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
