import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { verifyAudit } from "../../src/audit/verify-audit.ts";
import { EVENT_NAMES, type NacreEvent } from "../../src/support/events.ts";
import { removeAfterRun } from "../fixtures/remove-after-run.ts";
import { useToolkit } from "../fixtures/toolkit.ts";

const dir = mkdtempSync(join(tmpdir(), "nacre-test-"));
const auditFile = join(dir, "audit.jsonl");
afterAll(() => removeAfterRun(dir));
const kit = useToolkit({ auditFile, approve: async () => true });

let seen: NacreEvent[] = [];
let listening = false;
beforeEach(() => {
  seen = [];
  if (!listening) for (const name of EVENT_NAMES) kit().on(name, (event) => seen.push(event));
  listening = true;
});
const types = () => seen.map(({ type }) => type);

test("a foreground call emits every event, from the call to the result", async () => {
  await kit().call("Bash", { command: "exit 3" });
  expect(types()).toEqual(["call", "verdict", "start", "end", "result"]);
  expect(seen).toMatchObject([
    { tool: "Bash", arguments: { command: "exit 3" }, scope: "default" },
    { command: "exit 3", verdict: "allow", rule: null },
    { command: "exit 3", session: "default", durable: false },
    { status: "failed", exitCode: 3, signal: null },
    { success: false, code: "exit_nonzero" },
  ]);
});

test("a background shell emits its id, and a kill emits its result", async () => {
  const { metadata } = await kit().call("Bash", { command: "sleep 300", run_in_background: true });
  const id = metadata.bash_id ?? "";
  expect(seen).toContainEqual(expect.objectContaining({ type: "start", id, command: "sleep 300" }));
  await kit().call("KillShell", { shell_id: id });
  expect(seen).toContainEqual(expect.objectContaining({ type: "end", id, status: "killed" }));
  const kill = seen.find(({ type }) => type === "kill");
  expect(kill).toMatchObject({ id, by: "KillShell", survivors: [] });
  expect(kill?.type === "kill" && kill.signalled).toBeGreaterThan(0);
});

test("a refusal and an approval emit events with the rule", async () => {
  await kit().call("Bash", { command: "rm -rf /" });
  expect(types()).toEqual(["call", "verdict", "result"]);
  expect(seen[1]).toMatchObject({ verdict: "deny", command: "rm -rf /" });
  expect(seen[2]).toMatchObject({ code: "policy_denied" });
  seen = [];
  await kit().call("Bash", { command: "git push --force nowhere main" });
  expect(types()).toEqual(["call", "verdict", "approval", "start", "end", "result"]);
  expect(seen[2]).toMatchObject({ approved: true, command: "git push --force nowhere main" });
});

test("a session that a program uses directly emits events, too", async () => {
  await kit().session("by-hand").run("echo hi");
  expect(types()).toEqual(["verdict", "start", "end"]);
  expect(seen[1]).toMatchObject({ session: "by-hand", command: "echo hi" });
});

test("a removed listener gets no event, and a listener that throws does not break the call", async () => {
  const tools: string[] = [];
  const stop = kit().on("call", ({ tool }) => tools.push(tool));
  const broken = kit().on("call", () => {
    throw new Error("a mistake of the host");
  });
  const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
  expect(await kit().call("Bash", { command: "true" })).toMatchObject({ success: true });
  expect((await warned).message).toContain("a mistake of the host");
  broken();
  stop();
  await kit().call("Bash", { command: "true" });
  expect(tools).toEqual(["Bash"]);
});

test("the audit log contains every event and is valid", async () => {
  await kit().call("Bash", { command: "echo for the record" });
  const records = readFileSync(auditFile, "utf8").trimEnd().split("\n");
  expect(records.at(-1)).toContain('"type":"result"');
  expect(records.filter((line) => line.includes("for the record"))).toHaveLength(3);
  expect(await verifyAudit(auditFile)).toMatchObject({ ok: true, records: records.length });
});
