// Approval requests of a toolkit: where an answer can come from, which calls it covers, and what happens at its deadline.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ApprovalDesk } from "../../src/approvals/approval-desk.ts";
import { approvalInbox } from "../../src/approvals/approval-inbox.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import type { ApprovalAsking, ApprovalRequest } from "../../src/tool/context.ts";
import { createToolkit, type Toolkit, type ToolkitOptions } from "../../src/toolkit.ts";
import { useShells } from "../fixtures/shells.ts";

const { directory } = useShells();

/** The policy asks about this command, which deletes everything in its directory. */
const COMMAND = "find . -delete";

async function kitIn(base: string, options: Partial<ToolkitOptions> = {}): Promise<Toolkit> {
  const workingDir = join(base, "work");
  mkdirSync(workingDir, { recursive: true });
  return await createToolkit({ workingDir, stateRoot: join(base, "state"), ...options });
}

/** Returns the inbox of another process that shares the state root. */
function elsewhere(base: string) {
  return approvalInbox(ApprovalDesk.of(new StateRoot(join(base, "state"))), "nacre approve");
}

function createFile(base: string): string {
  const file = join(base, "work", "file");
  writeFileSync(file, "");
  return file;
}

const never = () => new Promise<boolean>(() => {});

/** Returns a callback that never answers, and a promise of the request that it receives. */
function silent() {
  let resolveAsked = (_: { request: ApprovalRequest; asking: ApprovalAsking }) => {};
  const asked = new Promise<{ request: ApprovalRequest; asking: ApprovalAsking }>((resolve) => {
    resolveAsked = resolve;
  });
  const approve = (request: ApprovalRequest, asking: ApprovalAsking) => {
    resolveAsked({ request, asking });
    return never();
  };
  return { approve, asked };
}

describe("without a person to ask", () => {
  test("a call fails at once, and a repeated call runs after approval", async () => {
    const base = directory();
    await using kit = await kitIn(base);
    const file = createFile(base);
    const first = await kit.call("Bash", { command: COMMAND });
    expect(first).toMatchObject({ success: false, code: "approval_pending" });
    const id = first.metadata.approval_id ?? "";
    expect(first.error).toContain(`nacre approve ${id}`);
    const again = await kit.call("Bash", { command: COMMAND });
    expect(again.metadata.approval_id).toBe(id);
    expect(elsewhere(base).list()).toMatchObject([
      {
        id,
        command: COMMAND,
        cwd: join(base, "work"),
        session: "default",
        rule: "delete-workspace",
        status: "open",
      },
    ]);
    elsewhere(base).approve(id);
    expect(existsSync(file)).toBe(true);
    expect(await kit.call("Bash", { command: COMMAND })).toMatchObject({ success: true });
    expect(existsSync(file)).toBe(false);
    const third = await kit.call("Bash", { command: COMMAND });
    expect(third).toMatchObject({ code: "approval_pending" });
    expect(third.metadata.approval_id).not.toBe(id);
  });

  test("after a denial, the repeated call fails with the reason", async () => {
    const base = directory();
    await using kit = await kitIn(base);
    const { metadata } = await kit.call("Bash", { command: COMMAND });
    elsewhere(base).deny(metadata.approval_id ?? "", { reason: "Use a branch." });
    const denied = await kit.call("Bash", { command: COMMAND });
    expect(denied).toMatchObject({ code: "approval_refused" });
    expect(denied.error).toContain('The answer was: "Use a branch."');
  });

  test("kit.run throws an error with the request's id and rule", async () => {
    await using kit = await kitIn(directory());
    await expect(kit.run(COMMAND)).rejects.toMatchObject({
      code: "approval_pending",
      approval_id: expect.stringMatching(/^ask_/),
      rule: "delete-workspace",
    });
    expect(kit.approvals.list()).toMatchObject([{ session: null }]);
  });

  test("a dry run asks no person and stores nothing", async () => {
    await using kit = await kitIn(directory());
    expect((await kit.call("Bash", { command: COMMAND }, { dryRun: true })).code).toBe("approval_refused");
    expect(kit.approvals.list()).toEqual([]);
  });
});

describe("a waiting call", () => {
  test("continues after an answer from another process, and aborts the signal of the approve callback", async () => {
    const base = directory();
    const { approve, asked } = silent();
    await using kit = await kitIn(base, { approve });
    const file = createFile(base);
    const running = kit.call("Bash", { command: COMMAND });
    const { asking } = await asked;
    expect(elsewhere(base).get(asking.id)).toMatchObject({ status: "open", waiting: true });
    elsewhere(base).approve(asking.id);
    expect(await running).toMatchObject({ success: true });
    expect(asking.signal.aborted).toBe(true);
    expect(existsSync(file)).toBe(false);
    expect(elsewhere(base).get(asking.id)).toMatchObject({
      status: "approved",
      answer: { by: "nacre approve" },
      used_at: expect.any(String),
    });
  });

  test("accepts only the first of two concurrent answers", async () => {
    const base = directory();
    for (let round = 0; round < 20; round++) {
      await using kit = await kitIn(join(base, String(round)));
      const { metadata } = await kit.call("Bash", { command: COMMAND });
      const id = metadata.approval_id ?? "";
      const inbox = elsewhere(join(base, String(round)));
      const results = await Promise.allSettled([
        Promise.resolve().then(() => inbox.approve(id)),
        Promise.resolve().then(() => kit.approvals.deny(id)),
      ]);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(inbox.get(id).status).toBe("approved");
    }
  });

  test("ends at the deadline", async () => {
    const base = directory();
    await using kit = await kitIn(base, { approve: never, approvalDeadlineMs: 100 });
    const file = createFile(base);
    const result = await kit.call("Bash", { command: COMMAND });
    expect(result).toMatchObject({ success: false, code: "approval_expired" });
    const id = result.metadata.approval_id ?? "";
    expect(() => kit.approvals.approve(id)).toThrow(/expired at/);
    expect(kit.approvals.get(id).status).toBe("expired");
    expect(existsSync(file)).toBe(true);
  });

  test("returns early while its question is still open; a repeated call gets the answer", async () => {
    const base = directory();
    let answer = (_: boolean) => {};
    let questions = 0;
    const approve = () => {
      questions++;
      return new Promise<boolean>((resolve) => {
        answer = resolve;
      });
    };
    await using kit = await kitIn(base, { approve, returnAfterMs: 100 });
    const file = createFile(base);
    const first = await kit.call("Bash", { command: COMMAND });
    expect(first).toMatchObject({ code: "approval_pending" });
    expect(await kit.call("Bash", { command: COMMAND })).toMatchObject({ code: "approval_pending" });
    expect(questions).toBe(1);
    answer(true);
    expect(await kit.call("Bash", { command: COMMAND })).toMatchObject({ success: true });
    expect(existsSync(file)).toBe(false);
    expect(questions).toBe(1);
  });

  test("withdraws its request when the caller cancels the call", async () => {
    const base = directory();
    const { approve, asked } = silent();
    await using kit = await kitIn(base, { approve });
    const ending = new AbortController();
    const running = kit.call("Bash", { command: COMMAND }, { signal: ending.signal });
    const { asking } = await asked;
    ending.abort();
    expect(await running).toMatchObject({ code: "aborted" });
    expect(() => kit.approvals.approve(asking.id)).toThrow(/was withdrawn by the caller/);
  });

  test("does not share its answer with a second, identical call", async () => {
    const base = directory();
    const { approve, asked } = silent();
    await using kit = await kitIn(base, { approve });
    const one = kit.run(COMMAND);
    const { asking } = await asked;
    const two = await kit.call("Bash", { command: COMMAND }, { approve: () => false });
    expect(two.code).toBe("approval_refused");
    kit.approvals.approve(asking.id);
    expect(await one).toMatchObject({ ok: true });
  });
});

describe("an answer is not valid for another", () => {
  test("directory", async () => {
    const base = directory();
    await using kit = await kitIn(base);
    mkdirSync(join(base, "work/sub"));
    const { metadata } = await kit.call("Bash", { command: "git clean -fdx" });
    kit.approvals.approve(metadata.approval_id ?? "");
    await kit.call("Bash", { command: "cd sub" });
    const moved = await kit.call("Bash", { command: "git clean -fdx" });
    expect(moved).toMatchObject({ code: "approval_pending" });
    expect(moved.metadata.approval_id).not.toBe(metadata.approval_id);
  });

  test.each([
    ["command", { command: `${COMMAND} ` }, {}],
    ["background flag", { command: COMMAND, run_in_background: true }, {}],
    ["session", { command: COMMAND }, { sessionId: "other" }],
    ["scope", { command: COMMAND }, { scope: "other" }],
  ])("%s", async (_, args, options) => {
    const base = directory();
    await using kit = await kitIn(base);
    const { metadata } = await kit.call("Bash", { command: COMMAND });
    kit.approvals.approve(metadata.approval_id ?? "");
    const other = await kit.call("Bash", args, options);
    expect(other).toMatchObject({ code: "approval_pending" });
    expect(other.metadata.approval_id).not.toBe(metadata.approval_id);
  });
});

describe("the records on disk", () => {
  test("are private to the user and survive the end of the toolkit", async () => {
    const base = directory();
    const kit = await kitIn(base);
    const { metadata } = await kit.call("Bash", { command: COMMAND });
    kit.approvals.approve(metadata.approval_id ?? "");
    await kit.dispose();
    const dir = join(base, "state/approvals");
    expect(readdirSync(dir)).toHaveLength(2);
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
    await using next = await kitIn(base);
    const file = createFile(base);
    expect(await next.call("Bash", { command: COMMAND })).toMatchObject({ success: true });
    expect(existsSync(file)).toBe(false);
  });

  test("a damaged record counts as missing", async () => {
    const base = directory();
    await using kit = await kitIn(base);
    const { metadata } = await kit.call("Bash", { command: COMMAND });
    const id = metadata.approval_id ?? "";
    writeFileSync(join(base, "state/approvals", `${id}.json`), "{");
    expect(() => kit.approvals.approve(id)).toThrow(`There is no approval ${id}. No approval is open.`);
    expect(await kit.call("Bash", { command: COMMAND })).toMatchObject({ code: "approval_pending" });
  });

  test("a new request is refused if its scope has too many open requests", async () => {
    const base = directory();
    await using kit = await kitIn(base);
    const { metadata } = await kit.call("Bash", { command: COMMAND });
    const dir = join(base, "state/approvals");
    const text = readFileSync(join(dir, `${metadata.approval_id}.json`), "utf8");
    for (let number = 0; number < 100; number++) {
      const id = `ask_${number.toString(16).padStart(8, "0")}`;
      writeFileSync(join(dir, `${id}.json`), JSON.stringify({ ...JSON.parse(text), id, command: `x ${id}` }));
    }
    const refused = await kit.call("Bash", { command: `${COMMAND} -print` });
    expect(refused).toMatchObject({ code: "limit_reached" });
    expect(refused.error).toContain("nacre approvals");
  });
});

describe("refused answers", () => {
  test("a second answer is refused, and the error names the first answer and its time", async () => {
    await using kit = await kitIn(directory());
    const { metadata } = await kit.call("Bash", { command: COMMAND });
    const id = metadata.approval_id ?? "";
    kit.approvals.deny(id.slice(0, 8), { reason: "No." });
    expect(() => kit.approvals.approve(id)).toThrow(
      /^Approval ask_[0-9a-f]+ was denied by kit\.approvals at \d{4}-.*Z \("No\."\)\. The first answer counts\.$/,
    );
  });

  test("the error for an unknown id lists the open requests", async () => {
    await using kit = await kitIn(directory());
    const { metadata } = await kit.call("Bash", { command: COMMAND });
    for (const id of ["ask_ffffffff", "../../etc/passwd", "nothing"])
      expect(() => kit.approvals.approve(id)).toThrow(
        `There is no approval ${id}. Open: ${metadata.approval_id}.`,
      );
  });
});
