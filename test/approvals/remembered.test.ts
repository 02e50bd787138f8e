// Remembered answers: the later commands that they cover, how long they last, and how they are removed.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifyAudit } from "../../src/audit/verify-audit.ts";
import type { RememberWish } from "../../src/tool/context.ts";
import { createToolkit, type Toolkit } from "../../src/toolkit.ts";
import { useShells } from "../fixtures/shells.ts";

const { directory } = useShells();

async function kitIn(base: string): Promise<Toolkit> {
  const workingDir = join(base, "work");
  mkdirSync(workingDir, { recursive: true });
  return await createToolkit({ workingDir, stateRoot: join(base, "state"), auditFile: join(base, "audit") });
}

async function remember(kit: Toolkit, command: string, wish: RememberWish, allow = true): Promise<string> {
  const { metadata } = await kit.call("Bash", { command });
  const answer = { remember: wish, reason: "As agreed." };
  const id = metadata.approval_id ?? "";
  const entry = allow ? kit.approvals.approve(id, answer) : kit.approvals.deny(id, answer);
  return entry.answer?.remembered ?? "";
}

const codeOf = async (kit: Toolkit, command: string, options = {}) =>
  (await kit.call("Bash", { command }, options)).code;

describe("an answer that is remembered for the session", () => {
  test("covers commands with the same effect until it is forgotten, and each use is recorded", async () => {
    const base = directory();
    await using kit = await kitIn(base);
    const id = await remember(kit, "git push --force nowhere main", { lasts: "session" });
    expect(kit.approvals.remembered()).toMatchObject([
      { id, allow: true, lasts: "session", session: "default", rules: ["git-lose-work"], programs: ["git"] },
    ]);
    // The first call uses the answer itself. The other calls use the remembered answer.
    for (const command of [
      "git push --force nowhere main",
      "echo hi; git push -f nowhere other",
      "git push -f nowhere x",
    ])
      expect(await codeOf(kit, command)).toBe("exit_nonzero");
    const audit = join(base, "state/remembered/audit.jsonl");
    const actions = readFileSync(audit, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).event.action);
    expect(actions).toEqual(["made", "used", "used"]);
    expect(await verifyAudit(audit)).toMatchObject({ ok: true, records: 3 });
    expect(readFileSync(join(base, "audit"), "utf8")).toContain('"by":"remembered answer"');
    expect(statSync(audit).mode & 0o777).toBe(0o600);
    kit.approvals.forget(id);
    expect(await codeOf(kit, "git push --force nowhere main")).toBe("approval_pending");
    expect(() => kit.approvals.forget(id)).toThrow("No answer is remembered.");
  });

  test("does not cover another subcommand, program, session or scope", async () => {
    await using kit = await kitIn(directory());
    await remember(kit, "git push --force nowhere main", { lasts: "session" });
    for (const command of ["git clean -fdx", "git push --force nowhere main; git clean -fdx", "npm publish"])
      expect([command, await codeOf(kit, command)]).toEqual([command, "approval_pending"]);
    const command = "git push --force nowhere main";
    expect(await codeOf(kit, command, { sessionId: "other" })).toBe("approval_pending");
    expect(await codeOf(kit, command, { scope: "other" })).toBe("approval_pending");
  });

  test("does not cover another command under sudo", async () => {
    await using kit = await kitIn(directory());
    await remember(kit, "sudo -n apt-get update", { lasts: "session" });
    for (const command of [
      "sudo -n touch x",
      "sudo -u apt-get touch x",
      "sudo -n apt-get update; sudo -n id",
    ])
      expect([command, await codeOf(kit, command)]).toEqual([command, "approval_pending"]);
  });

  test("never overrides a deny", async () => {
    await using kit = await kitIn(directory());
    await remember(kit, "find . -delete", { lasts: "session", paths: "class" });
    expect(await codeOf(kit, "find / -delete")).toBe("policy_denied");
  });

  test("a remembered denial refuses the command at once", async () => {
    await using kit = await kitIn(directory());
    const id = await remember(kit, "npm publish", { lasts: "session" }, false);
    await kit.call("Bash", { command: "npm publish" });
    const again = await kit.call("Bash", { command: "npm publish" });
    expect(again).toMatchObject({ code: "approval_refused" });
    expect(again.error).toContain(`remembered answer ${id}`);
  });
});

describe("an answer that is remembered for the workspace", () => {
  test("covers other sessions and hosts, but only in the same workspace", async () => {
    const base = directory();
    const kit = await kitIn(base);
    await remember(kit, "git push --force nowhere main", { lasts: "workspace" });
    const command = "git push --force nowhere main";
    expect(await codeOf(kit, command, { sessionId: "other", scope: "other" })).toBe("exit_nonzero");
    await kit.dispose();
    await using next = await kitIn(base);
    expect(await codeOf(next, command)).toBe("exit_nonzero");
    mkdirSync(join(base, "elsewhere"));
    expect(await codeOf(next, command, { workingDir: join(base, "elsewhere") })).toBe("approval_pending");
  });

  test("expires at its end time", async () => {
    const base = directory();
    await using kit = await kitIn(base);
    const id = await remember(kit, "git push --force nowhere main", { lasts: "workspace", forMs: 60_000 });
    const file = join(base, "state/remembered", `${id}.json`);
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), until: "2020-01-01" }));
    expect(await codeOf(kit, "git push --force nowhere main")).toBe("exit_nonzero");
    expect(await codeOf(kit, "git push --force nowhere main")).toBe("approval_pending");
    expect(kit.approvals.remembered()).toEqual([]);
    expect(existsSync(file)).toBe(false);
  });
});

describe("the paths of a remembered answer", () => {
  test("are exact unless the answer covers their path class", async () => {
    await using kit = await kitIn(directory());
    const outside = (name: string) => `rm -rf /nowhere/${name}`;
    await remember(kit, outside("one"), { lasts: "session" });
    for (let times = 0; times < 2; times++) expect(await codeOf(kit, outside("one"))).toBeUndefined();
    expect(await codeOf(kit, outside("two"))).toBe("approval_pending");
    await remember(kit, outside("three"), { lasts: "session", paths: "class" });
    expect(await codeOf(kit, outside("four"))).toBeUndefined();
  });
});

describe("an answer cannot be remembered", () => {
  test.each([
    ["a program that is known only at run time", "$X foo", /cannot be remembered/],
    ["code from the network", "curl http://localhost:1/x | bash", /cannot be remembered/],
  ])("for %s", async (_, command, message) => {
    await using kit = await kitIn(directory());
    const { metadata } = await kit.call("Bash", { command });
    const id = metadata.approval_id ?? "";
    expect(kit.approvals.get(id).rememberable).toBe(false);
    expect(() => kit.approvals.approve(id, { remember: { lasts: "session" } })).toThrow(message);
    expect(kit.approvals.get(id).status).toBe("open");
  });

  test("for the session if the command has none, or for more than 30 days", async () => {
    await using kit = await kitIn(directory());
    await expect(kit.run("npm publish")).rejects.toMatchObject({ code: "approval_pending" });
    const [open] = kit.approvals.list();
    const approve = (remember: RememberWish) => () => kit.approvals.approve(open?.id ?? "", { remember });
    expect(approve({ lasts: "session" })).toThrow(/not a command of a session/);
    expect(approve({ lasts: "workspace", forMs: 31 * 86_400_000 })).toThrow(/at most 30 days/);
  });
});
