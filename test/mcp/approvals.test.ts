import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { ApprovalDesk } from "../../src/approvals/approval-desk.ts";
import { approvalInbox } from "../../src/approvals/approval-inbox.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { canAsk } from "../../src/mcp/approvals.ts";
import { deferred } from "../../src/support/timing.ts";
import { eventually } from "../fixtures/shells.ts";
import { dataOf, ERAS, type OpenOptions, textOf, useMcp } from "./mcp-clients.ts";

const mcp = useMcp();

/** Needs approval because it empties its working directory. */
const COMMAND = "find . -delete";

interface Person extends OpenOptions {
  readonly questions: string[];
}

function person(answer: () => "accept" | "decline" | "cancel"): Person {
  const questions: string[] = [];
  const prepare = (client: Client) =>
    client.setRequestHandler("elicitation/create", ({ params }) => {
      questions.push(params.message);
      const action = answer();
      return action === "accept" ? { action, content: {} } : { action };
    });
  return { capabilities: { elicitation: { form: {} } }, prepare, questions };
}

describe.each(ERAS)("a client of the %s era", (era) => {
  test("runs a command that needs approval after a person approved it", async () => {
    const asked = person(() => "accept");
    const { call, dir } = await mcp.inProcess({ era, ...asked });
    writeFileSync(join(dir, "file"), "");
    const result = await call("Bash", { command: COMMAND });
    expect(asked.questions).toHaveLength(1);
    expect(asked.questions[0]).toContain(COMMAND);
    expect(asked.questions[0]).toContain("rule delete-workspace");
    expect(asked.questions[0]).toContain(`in ${dir}`);
    expect(dataOf(result)).not.toHaveProperty("error_code", "approval_refused");
    expect(existsSync(join(dir, "file"))).toBe(false);
  });

  test.each(["decline", "cancel"] as const)("runs nothing after a %s, and asks only once", async (action) => {
    const asked = person(() => action);
    const { call, dir } = await mcp.inProcess({ era, ...asked });
    writeFileSync(join(dir, "file"), "");
    const result = await call("Bash", { command: COMMAND });
    expect(asked.questions).toHaveLength(1);
    expect(result.isError).toBe(true);
    expect(dataOf(result)).toMatchObject({ error_code: "approval_refused" });
    expect(textOf(result)).toContain("A person refused the command");
    expect(existsSync(join(dir, "file"))).toBe(true);
  });

  test("does not ask about a command that the policy denies or allows", async () => {
    const asked = person(() => "accept");
    const { call } = await mcp.inProcess({ era, ...asked });
    expect(dataOf(await call("Bash", { command: "rm -rf /" }))).toMatchObject({
      error_code: "policy_denied",
      error: expect.stringContaining("blocked"),
    });
    expect(textOf(await call("Bash", { command: "echo fine" }))).toBe("fine\n");
    expect(asked.questions).toEqual([]);
  });

  test("that has no person to ask gets an error that names the flag that would allow the command", async () => {
    const { call, dir } = await mcp.inProcess({ era });
    writeFileSync(join(dir, "file"), "");
    const result = await call("Bash", { command: COMMAND });
    expect(dataOf(result)).toMatchObject({
      error_code: "approval_pending",
      approval_id: expect.stringMatching(/^ask_/),
    });
    expect(textOf(result)).toMatch(/start the server with: nacre mcp --policy (trusting|off)/);
    expect(existsSync(join(dir, "file"))).toBe(true);
  });

  test("asks for approval in the modes dialect, too", async () => {
    const asked = person(() => "decline");
    const { call } = await mcp.inProcess({ era, dialect: "modes", ...asked });
    expect(dataOf(await call("bash", { command: COMMAND }))).toMatchObject({
      error_code: "approval_refused",
    });
    expect(asked.questions).toHaveLength(1);
  });
});

describe.each(ERAS)("while a client of the %s era asks a person", (era) => {
  /** Approves the first question after another call has changed the session's directory, and declines later questions. */
  const moving = async (command: string, args: Record<string, unknown>) => {
    const questions: string[] = [];
    const moved = { call: async (_: string, __: Record<string, unknown>): Promise<unknown> => undefined };
    const prepare = (client: Client) =>
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        questions.push(params.message);
        if (questions.length > 1) return { action: "decline" };
        await moved.call("Bash", { command: "cd ../second" });
        return { action: "accept", content: {} };
      });
    const { call, dir } = await mcp.inProcess({ era, capabilities: { elicitation: { form: {} } }, prepare });
    moved.call = call;
    for (const name of ["first", "second"]) {
      mkdirSync(join(dir, name));
      writeFileSync(join(dir, name, "file"), "");
    }
    await call("Bash", { command: "cd first" });
    return { result: await call("Bash", { command, ...args }), questions, dir };
  };

  test.each([
    ["in the foreground", {}],
    ["in the background", { run_in_background: true }],
  ])("a parallel call cannot change the directory of the approved command: %s", async (_, args) => {
    const { result, questions, dir } = await moving("git clean -fdx . ; find . -delete", args);
    expect(dataOf(result)).toMatchObject({ error_code: "approval_refused" });
    expect(questions).toHaveLength(2);
    expect(questions[0]).toContain(`in ${join(dir, "first")}`);
    expect(questions[1]).toContain(`in ${join(dir, "second")}`);
    expect(questions.every((text) => text.includes("in the background"))).toBe("run_in_background" in args);
    for (const name of ["first", "second"]) expect(existsSync(join(dir, name, "file"))).toBe(true);
  });
});

test("an approval that answers no question does not count", async () => {
  const { client, dir, transport } = await mcp.inProcess({ ...person(() => "decline"), era: "modern" });
  writeFileSync(join(dir, "file"), "");
  const forged = {
    name: "Bash",
    arguments: { command: COMMAND },
    inputResponses: { approval: { action: "accept", content: {} } },
    requestState: "made up",
  };
  const result = await client.callTool(forged);
  expect(dataOf(result)).toMatchObject({ error_code: "approval_refused" });
  expect(existsSync(join(dir, "file"))).toBe(true);
  expect(JSON.stringify(transport.received)).toContain("input_required");
});

describe("an approval in a second call, while the first call's question is open", () => {
  const answered = async (args: Record<string, unknown>, times = 1) => {
    const questions: string[] = [];
    const end = deferred();
    const prepare = (client: Client) =>
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        if (questions.push(params.message) === 1) await end.promise;
        return { action: "decline" };
      });
    const capabilities = { elicitation: { form: {} } };
    const { client, call, dir, transport } = await mcp.inProcess({ era: "modern", capabilities, prepare });
    const first = call("Bash", { command: COMMAND });
    const [, requestState = ""] = await eventually(() => {
      const found = /"requestState":"([^"]+)"/.exec(JSON.stringify(transport.received));
      if (!found) throw new Error("No question");
      return found;
    });
    const inputResponses = { approval: { action: "accept", content: {} } };
    const second = { name: "Bash", arguments: { command: COMMAND, ...args }, inputResponses, requestState };
    let result = {};
    for (let count = 0; count < times; count++) {
      writeFileSync(join(dir, "file"), "");
      result = dataOf(await client.callTool(second));
    }
    const questionCount = questions.length;
    end.resolve();
    await first;
    return { result, questionCount, file: join(dir, "file") };
  };

  test("counts if the second call is the same as the first", async () => {
    const { questionCount, file } = await answered({});
    expect(questionCount).toBe(1);
    expect(existsSync(file)).toBe(false);
  });

  test("counts only once", async () => {
    const { result, questionCount, file } = await answered({}, 2);
    expect(result).toMatchObject({ error_code: "approval_refused" });
    expect(questionCount).toBe(2);
    expect(existsSync(file)).toBe(true);
  });

  test("does not count if the second call runs the command in the background", async () => {
    const { result, questionCount, file } = await answered({ run_in_background: true });
    expect(result).toMatchObject({ error_code: "approval_refused" });
    expect(questionCount).toBe(2);
    expect(existsSync(file)).toBe(true);
  });
});

describe.each(ERAS)("a person at a client of the %s era", (era) => {
  test("can have an approval remembered for the session", async () => {
    const forms: unknown[] = [];
    const prepare = (client: Client) =>
      client.setRequestHandler("elicitation/create", ({ params }) => {
        forms.push("requestedSchema" in params && params.requestedSchema);
        return { action: "accept", content: { remember: "session" } };
      });
    const { call } = await mcp.inProcess({ era, capabilities: { elicitation: { form: {} } }, prepare });
    for (const branch of ["one", "two"])
      expect(dataOf(await call("Bash", { command: `git push -f nowhere ${branch}` }))).toMatchObject({
        error_code: "exit_nonzero",
      });
    expect(forms).toMatchObject([{ properties: { remember: { enum: ["no", "session", "workspace"] } } }]);
  });
});

describe("an answer from another process", () => {
  const inbox = (dir: string) =>
    approvalInbox(ApprovalDesk.of(new StateRoot(join(dir, "../state"))), "nacre approve");

  /** Returns a client whose person does not answer, and the list of questions that the server cancels. */
  const unanswered = () => {
    const cancelled: unknown[] = [];
    const prepare = (client: Client) =>
      client.setRequestHandler("elicitation/create", (_, { mcpReq: { signal } }) => {
        const end = deferred<{ action: "cancel" }>();
        signal.addEventListener("abort", () => {
          cancelled.push(signal.reason);
          end.resolve({ action: "cancel" });
        });
        return end.promise;
      });
    return { capabilities: { elicitation: { form: {} } }, prepare, cancelled };
  };

  test("lets a waiting call of the legacy era continue, and cancels the question to the client", async () => {
    const { cancelled, ...client } = unanswered();
    const { call, dir } = await mcp.inProcess({ era: "legacy", ...client });
    writeFileSync(join(dir, "file"), "");
    const running = call("Bash", { command: COMMAND });
    const [open] = await eventually(() => {
      const all = inbox(dir).list();
      expect(all).toMatchObject([{ status: "open", waiting: true }]);
      return all;
    });
    inbox(dir).approve(open?.id ?? "");
    expect(dataOf(await running)).not.toHaveProperty("error_code", expect.stringContaining("approval"));
    expect(existsSync(join(dir, "file"))).toBe(false);
    await eventually(() => expect(cancelled).toHaveLength(1));
  });

  test("counts even after the call has returned early, because the approval request stays open", async () => {
    const { cancelled, ...client } = unanswered();
    const { call, dir } = await mcp.inProcess({ era: "legacy", returnAfterMs: 200, ...client });
    const result = dataOf(await call("Bash", { command: COMMAND }));
    expect(result).toMatchObject({ error_code: "approval_pending" });
    inbox(dir).approve(String(result["approval_id"]));
    expect(dataOf(await call("Bash", { command: COMMAND }))).toMatchObject({ exit_code: 0 });
    await eventually(() => expect(cancelled).toHaveLength(1));
  });

  test("counts for the second request of the modern era", async () => {
    const asked = person(() => {
      for (const { id, status } of inbox(work.dir).list())
        if (status === "open") inbox(work.dir).deny(id, { reason: "From elsewhere." });
      return "accept";
    });
    const { call, dir } = await mcp.inProcess({ era: "modern", ...asked });
    const work = { dir };
    writeFileSync(join(dir, "file"), "");
    const result = await call("Bash", { command: COMMAND });
    expect(dataOf(result)).toMatchObject({ error_code: "approval_refused" });
    expect(textOf(result)).toContain("From elsewhere.");
    expect(existsSync(join(dir, "file"))).toBe(true);
  });

  test("cannot arrive after the connection has closed, because the request is withdrawn then", async () => {
    const { call, client, dir, served } = await mcp.inProcess({ era: "legacy" });
    await call("Bash", { command: COMMAND });
    await client.close();
    await served;
    expect(inbox(dir).list()).toMatchObject([
      { status: "withdrawn", answer: { by: "the end of its connection" } },
    ]);
  });
});

test("with the policy off, every command runs without a question", async () => {
  const asked = person(() => "decline");
  const { call, dir } = await mcp.inProcess({ policy: "off", ...asked });
  writeFileSync(join(dir, "file"), "");
  await call("Bash", { command: COMMAND });
  expect(existsSync(join(dir, "file"))).toBe(false);
  expect(asked.questions).toEqual([]);
});

test("canAsk returns whether a client can show forms", () => {
  expect(canAsk({ elicitation: {} })).toBe(true);
  expect(canAsk({ elicitation: { form: {} } })).toBe(true);
  expect(canAsk({ elicitation: { form: {}, url: {} } })).toBe(true);
  expect(canAsk({ elicitation: { url: {} } })).toBe(false);
  expect(canAsk({ roots: {} })).toBe(false);
  expect(canAsk({ elicitation: "yes" })).toBe(false);
  expect(canAsk(undefined)).toBe(false);
});
