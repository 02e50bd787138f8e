// Settings: flags override the environment, and the environment overrides the user's file. The file of a workspace can
// only tighten settings.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();
const userFile = () => join(dir(), "config/nacre/config.json");
const workspaceFile = () => join(dir(), ".nacre/config.json");

function write(file: string, text: string): void {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
}

async function settings(...flags: string[]) {
  const { code, stdout, stderr } = await nacre("config", "--json", ...flags);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

beforeEach(() => {
  vi.stubEnv("XDG_CONFIG_HOME", join(dir(), "config"));
  mkdirSync(join(dir(), ".git"));
});

test("each layer overrides the previous layer, and nacre config names the origin of each value", async () => {
  expect(await settings()).toEqual({
    policy: { value: "standard", origin: "default" },
    sandbox: { value: "off", origin: "default" },
    network: { value: "none", origin: "default" },
    shellProfile: { value: "none", origin: "default" },
    with: { value: [], origin: "default" },
    remotes: { value: [], origin: "default" },
    auditFile: { value: "", origin: "default" },
  });
  write(
    userFile(),
    '{\n  // mine\n  "policy": "trusting", "sandbox": "workspace-write", "network": "full",\n}',
  );
  expect((await settings()).policy).toEqual({ value: "trusting", origin: userFile() });
  vi.stubEnv("NACRE_POLICY", "cautious");
  expect((await settings()).policy).toEqual({ value: "cautious", origin: "environment" });
  expect((await settings("--policy", "off")).policy).toEqual({ value: "off", origin: "flag" });
  const { stdout } = await nacre("config");
  expect(stdout).toMatch(
    /^SETTING +VALUE +ORIGIN\npolicy +cautious +environment\nsandbox +workspace-write +\//,
  );
});

test("the file of a workspace can only tighten settings", async () => {
  write(workspaceFile(), '{ "policy": "standard", "sandbox": "read-only", "network": "full" }');
  expect(await settings("--policy", "cautious")).toEqual({
    policy: { value: "cautious", origin: "flag" },
    sandbox: { value: "read-only", origin: workspaceFile() },
    network: { value: "none", origin: "default" },
    shellProfile: { value: "none", origin: "default" },
    with: { value: [], origin: "default" },
    remotes: { value: [], origin: "default" },
    auditFile: { value: "", origin: "default" },
  });
  expect((await settings("--policy", "off")).policy).toEqual({ value: "standard", origin: workspaceFile() });
});

test("nacre run and nacre check use the settings", async () => {
  const command = "git clean -fdx";
  expect((await nacre("check", command)).code).toBe(3);
  write(userFile(), '{ "policy": "off" }');
  expect((await nacre("check", command)).code).toBe(0);
  expect((await nacre("run", "--dry-run", command)).code).toBe(0);
  expect((await nacre("run", "--policy", "standard", "--dry-run", command)).code).toBe(3);
});

test("the setting shellProfile lets commands use the user's profile, unless the workspace forbids it", async () => {
  vi.stubEnv("HOME", dir());
  vi.stubEnv("SHELL", "/bin/bash");
  for (const file of [".bashrc", ".bash_profile"])
    writeFileSync(join(dir(), file), "export FROM_PROFILE=yes\n");
  const command = ["run", 'echo "[$FROM_PROFILE]"'];
  expect((await nacre(...command)).stdout).toBe("[]\n");
  write(userFile(), '{ "shellProfile": "user" }');
  expect((await nacre(...command)).stdout).toBe("[yes]\n");
  vi.stubEnv("NACRE_SHELL_PROFILE", "none");
  expect((await settings()).shellProfile).toEqual({ value: "none", origin: "environment" });
  vi.stubEnv("NACRE_SHELL_PROFILE", "");
  write(workspaceFile(), '{ "shellProfile": "none" }');
  expect((await nacre(...command)).stdout).toBe("[]\n");
});

test("the setting `with` adds tools to `nacre tools` and `nacre mcp`; a workspace can only remove tools", async () => {
  const toolNames = async (...flags: string[]) =>
    JSON.parse((await nacre("tools", ...flags)).stdout).map(({ name }: { name: string }) => name);
  expect(await toolNames()).not.toContain("Read");
  write(userFile(), '{ "with": ["files"] }');
  expect((await settings()).with).toEqual({ value: ["files"], origin: userFile() });
  expect((await nacre("config")).stdout).toMatch(/^with +files +\//m);
  expect(await toolNames()).toContain("Read");
  write(workspaceFile(), '{ "with": [] }');
  expect((await settings()).with).toEqual({ value: [], origin: workspaceFile() });
  expect(await toolNames("--with", "files")).not.toContain("Read");
  write(userFile(), "{}");
  write(workspaceFile(), '{ "with": ["files"] }');
  expect((await settings()).with).toEqual({ value: [], origin: "default" });
  vi.stubEnv("NACRE_WITH", "files, nothing");
  expect((await nacre("tools")).stderr).toContain(
    'The variable NACRE_WITH is "files, nothing": each value must be one of files, terminals, preview.',
  );
});

test("the setting remotes is a list of addresses, and a workspace cannot add an address", async () => {
  write(userFile(), '{ "remotes": ["ssh://build"] }');
  expect((await settings()).remotes).toEqual({ value: ["ssh://build"], origin: userFile() });
  write(workspaceFile(), '{ "remotes": ["command:[\\"evil\\"]"] }');
  expect((await settings()).remotes).toEqual({ value: [], origin: workspaceFile() });
  write(workspaceFile(), "{}");
  vi.stubEnv("NACRE_REMOTES", 'docker://box command:["a","b"]');
  expect((await settings()).remotes.value).toEqual(["docker://box", 'command:["a","b"]']);
});

test.each([
  ['{ "with": "files" }', 'The setting with must be a list of "files", "terminals", "preview".'],
  ['{ "with": ["file"] }', 'The setting with must be a list of "files", "terminals", "preview".'],
  ['{ "polcy": "off" }', "There is no setting polcy. Did you mean policy?"],
  ['{ "policy": "strict" }', "The setting policy must be one of off, trusting, standard, cautious."],
  ['{\n  "policy" "off" }', "Line 2 is not JSON"],
  ["[]", "It must be one JSON object."],
])("nothing runs with an invalid file: %s", async (text, words) => {
  write(userFile(), text);
  const { code, stderr } = await nacre("run", "echo ran");
  expect(code).toBe(1);
  expect(stderr).toContain(
    `The settings file ${userFile()} cannot be used, and nothing runs without it. ${words}`,
  );
});

test("config prints the settings, names an invalid rule file and fails", async () => {
  const rules = join(dirname(workspaceFile()), "policy.json");
  write(rules, '{ "version": 1, "rules": [{ "id": "x", "verdict": "deny", "program": "ls" }] }');
  const { code, stdout, stderr } = await nacre("config");
  expect({ code, settings: stdout.slice(0, 7) }).toEqual({ code: 1, settings: "SETTING" });
  expect(stderr).toContain(`The policy file ${rules} cannot be used`);
});

test("an invalid variable causes an error, and a command cannot loosen its own settings without approval", async () => {
  vi.stubEnv("NACRE_SANDBOX", "on");
  expect((await nacre("run", "true")).stderr).toContain(
    'The variable NACRE_SANDBOX is "on": it must be one of off, workspace-write, read-only.',
  );
  vi.stubEnv("NACRE_SANDBOX", "");
  expect((await nacre("check", "NACRE_POLICY=off nacre run ls")).code).toBe(3);
  expect((await nacre("check", `echo '{"policy":"off"}' > ${userFile()}`)).code).toBe(3);
});
