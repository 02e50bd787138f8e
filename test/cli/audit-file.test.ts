// --audit-file: `nacre run` and `nacre mcp` write records that `nacre audit verify` accepts.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/client";
import { expect, test, vi } from "vitest";
import { verifyAudit } from "../../src/audit/verify-audit.ts";
import { runCli } from "../../src/cli/cli.ts";
import { describeSandboxed } from "../fixtures/sandboxes.ts";
import { StreamTransport } from "../mcp/stream-transport.ts";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();
const auditFile = () => join(dir(), "audit.jsonl");

function events(): { readonly type: string; readonly [field: string]: unknown }[] {
  const lines = readFileSync(auditFile(), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line).event);
}

test.each([
  ["in the foreground", [], ["verdict", "start", "end"]],
  ["as JSON", ["--json"], ["verdict", "start", "end"]],
  ["in a session", ["--session", "build"], ["verdict", "start", "end"]],
  ["with the modes tool", ["--json", "--mode", "default"], ["call", "verdict", "start", "end", "result"]],
  ["in the background", ["-b"], ["verdict", "start"]],
])("a run %s writes verifiable records", async (_form, options, types) => {
  const { code } = await nacre("run", ...options, "--audit-file", "audit.jsonl", "echo hello");
  expect(code).toBe(0);
  const seen = events();
  expect(types.filter((type) => !seen.some((event) => event.type === type))).toEqual([]);
  expect(seen.find(({ type }) => type === "verdict")).toMatchObject({
    command: "echo hello",
    verdict: "allow",
  });
  expect(await verifyAudit(auditFile())).toMatchObject({ ok: true, records: seen.length });
});

test("a refused run is recorded, and several runs can share one file", async () => {
  expect((await nacre("run", "--audit-file", auditFile(), "rm -rf /")).code).toBe(4);
  expect((await nacre("run", "--audit-file", auditFile(), "exit 3")).code).toBe(3);
  expect(events()).toContainEqual(
    expect.objectContaining({ type: "verdict", verdict: "deny", rule: "delete-root" }),
  );
  expect(events()).toContainEqual(expect.objectContaining({ type: "end", exitCode: 3 }));
  expect((await nacre("audit", "verify", auditFile())).code).toBe(0);
});

test("an MCP call writes verifiable records", async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr: new PassThrough(), cwd: dir(), interactive: false };
  const served = runCli(["mcp", "--audit-file", auditFile()], io);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamTransport(stdout, stdin));
  await client.callTool({ name: "Bash", arguments: { command: "echo hello" } });
  await client.close();
  expect(await served).toBe(0);
  const types = events().map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(["call", "verdict", "result"]));
  expect(await verifyAudit(auditFile())).toMatchObject({ ok: true, records: types.length });
});

test("an audit file that cannot be opened causes an error, and nothing runs", async () => {
  const file = join(dir(), "none/audit.jsonl");
  const args = ["--audit-file", file];
  for (const line of [
    ["run", ...args, "touch ran"],
    ["run", ...args, "--json", "touch ran"],
    ["mcp", ...args],
  ]) {
    const { code, stderr } = await nacre(...line);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`The audit log ${file} cannot be opened: ENOENT`),
    ]);
  }
  expect((await nacre("run", "ls ran")).code).not.toBe(0);
  expect((await nacre("run", "--audit-file", "", "true")).code).toBe(2);
});

test("the user's file or NACRE_AUDIT_FILE sets an absolute auditFile; a workspace cannot set it", async () => {
  const config = join(dir(), "config");
  vi.stubEnv("XDG_CONFIG_HOME", config);
  mkdirSync(join(config, "nacre"), { recursive: true });
  mkdirSync(join(dir(), ".git"));
  mkdirSync(join(dir(), ".nacre"));
  const workspaceFile = join(dir(), "workspace.jsonl");
  writeFileSync(join(dir(), ".nacre/config.json"), JSON.stringify({ auditFile: workspaceFile }));
  const setting = async (...flags: string[]) =>
    JSON.parse((await nacre("config", "--json", ...flags)).stdout).auditFile;
  expect(await setting()).toEqual({ value: "", origin: "default" });
  const userFile = join(config, "nacre/config.json");
  writeFileSync(userFile, JSON.stringify({ auditFile: auditFile() }));
  expect(await setting()).toEqual({ value: auditFile(), origin: userFile });
  expect((await nacre("run", "true")).code).toBe(0);
  expect(events()).not.toEqual([]);
  vi.stubEnv("NACRE_AUDIT_FILE", "/tmp/other.jsonl");
  expect(await setting()).toEqual({ value: "/tmp/other.jsonl", origin: "environment" });
  expect(await setting("--audit-file", "here")).toEqual({ value: join(dir(), "here"), origin: "flag" });
  vi.stubEnv("NACRE_AUDIT_FILE", "relative");
  expect((await nacre("run", "true")).stderr).toMatch(
    /NACRE_AUDIT_FILE is "relative": it must be an absolute path/,
  );
  vi.stubEnv("NACRE_AUDIT_FILE", "");
  writeFileSync(userFile, '{ "auditFile": "relative" }');
  expect((await nacre("run", "true")).stderr).toMatch(/The setting auditFile must be an absolute path/);
});

describeSandboxed("in a sandbox", () => {
  test("a command cannot write to the audit file", async () => {
    const args = ["--sandbox", "workspace-write", "--policy", "off", "--audit-file", auditFile()];
    const { code } = await nacre("run", ...args, `echo forged >>${auditFile()} || rm ${auditFile()}`);
    expect(code).not.toBe(0);
    expect(await verifyAudit(auditFile())).toMatchObject({ ok: true });
  });
});
