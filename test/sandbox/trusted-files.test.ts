// nacre reads or runs some files of a writable workspace outside the sandbox. Commands can neither change,
// move nor create these files. Each attempt succeeds without a sandbox.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SandboxProfile } from "../../src/engine/confinement.ts";
import { guardTrusted, ownProgram } from "../../src/sandbox/trusted-base.ts";
import { policyFolders } from "../../src/support/policy-places.ts";
import { createToolkit } from "../../src/toolkit.ts";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";

const world = useSandboxWorld();
const { home, workspace, outside } = world;

/** The output of a command in the workspace. */
async function output(command: string, sandbox: SandboxProfile, options = {}): Promise<string> {
  const shell = await runIn(world.manager({ sandbox, ...options }), command, workspace);
  return shell.getAllOutput();
}

describeSandboxed("the rules of a workspace", () => {
  const folder = join(workspace, ".nacre");
  const attempts = [
    "echo '{}' >.nacre/policy.json && echo REACHED",
    "rm -rf .nacre && echo REACHED",
    "mv .nacre old && echo REACHED",
  ];

  test.each(attempts)("cannot be changed: %s", async (attempt) => {
    const write = () => {
      rmSync(join(workspace, "old"), { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "policy.json"), '{ "version": 1, "rules": [] }');
    };
    write();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    expect(await output(attempt, "workspace-write")).not.toContain("REACHED");
    expect(await output("cat .nacre/policy.json", "workspace-write")).toContain("rules");
    write();
    expect(await output(attempt, "off")).toContain("REACHED");
    rmSync(join(workspace, "old"), { recursive: true, force: true });
  });

  test("cannot be created if they are missing, and no placeholder remains", async () => {
    const attempt = "mkdir -p .nacre && echo '{}' >.nacre/policy.json && echo REACHED";
    expect(await output(attempt, "workspace-write")).not.toContain("REACHED");
    expect(existsSync(folder)).toBe(false);
    expect(await output(attempt, "off")).toContain("REACHED");
    rmSync(folder, { recursive: true });
  });

  test("are reported as unprotected if their directory is a link", async () => {
    symlinkSync(outside, folder);
    onTestFinished(() => rmSync(folder));
    const shell = await runIn(world.manager({ sandbox: "workspace-write" }), "true", workspace);
    expect(shell.confinement?.notEnforced).toEqual([
      `the rules in ${folder}: it is a link, which cannot be protected`,
    ]);
  });
});

test("rules above the workspace apply up to the outermost repository, even after git init in the workspace", () => {
  const top = join(outside, "top");
  mkdirSync(join(top, "sub/deep"), { recursive: true });
  const deep = join(top, "sub/deep");
  expect(policyFolders(deep)).toEqual([join(deep, ".nacre")]);
  mkdirSync(join(top, ".git"));
  const all = [deep, join(top, "sub"), top].map((directory) => join(directory, ".nacre"));
  expect(policyFolders(deep)).toEqual(all);
  mkdirSync(join(deep, ".git"));
  expect(policyFolders(deep)).toEqual(all);
});

describeSandboxed("the rules of the user", () => {
  const before = process.env["XDG_CONFIG_HOME"] ?? "";
  const moved = join(outside, "config");

  test.each([
    ["in the home directory", join(home, ".config"), before],
    ["in the directory that XDG_CONFIG_HOME names", moved, moved],
  ])("can neither be read, changed nor created: %s", async (_, config, variable) => {
    process.env["XDG_CONFIG_HOME"] = variable;
    onTestFinished(() => {
      process.env["XDG_CONFIG_HOME"] = before;
    });
    mkdirSync(config, { recursive: true });
    const folder = join(config, "nacre");
    const create = `mkdir -p '${folder}' && echo '{}' >'${folder}/policy.json'`;
    const attempts = [`cat '${folder}/policy.json'`, create, `mv '${folder}' '${config}/away'`];
    const reaches = async (attempt: string, sandbox: SandboxProfile) => {
      const options = sandbox === "off" ? {} : { writable: [config] };
      return (await output(`${attempt} && echo REACHED`, sandbox, options)).includes("REACHED");
    };
    expect(await reaches(create, "workspace-write")).toBe(false);
    expect(existsSync(folder)).toBe(false);
    expect(await reaches(create, "off")).toBe(true);
    for (const attempt of attempts) expect(await reaches(attempt, "workspace-write"), attempt).toBe(false);
    for (const attempt of attempts) expect(await reaches(attempt, "off"), attempt).toBe(true);
  });
});

describeSandboxed("a file of rules and an audit log in the workspace", () => {
  test("cannot be written by a command", async () => {
    const [policyFile, auditFile] = [join(workspace, "rules/own.json"), join(workspace, "log/audit")];
    for (const name of ["rules", "log"]) mkdirSync(join(workspace, name), { recursive: true });
    writeFileSync(policyFile, '{ "version": 1, "rules": [] }');
    const attempts = [policyFile, auditFile].flatMap((file) => [
      `echo x >>'${file}' && echo REACHED`,
      `rm -f '${file}' && echo REACHED`,
      `mv '${join(file, "..")}' '${join(file, "..")}2' && echo REACHED`,
    ]);
    const call = async (sandbox: SandboxProfile, command: string) => {
      await using kit = await createToolkit({
        workingDir: workspace,
        stateRoot: join(home, "state"),
        sandbox,
        policy: "off",
        policyFile,
        auditFile,
      });
      return JSON.stringify(await kit.call("Bash", { command }));
    };
    for (const command of attempts)
      expect(await call("workspace-write", command)).not.toContain("REACHED\\n");
    expect(await call("off", attempts[0] ?? "")).toContain("REACHED\\n");
  });
});

describeSandboxed("a bash in the workspace that nacre runs", () => {
  test("cannot be replaced by a command", async () => {
    const bin = join(workspace, "tools/bin");
    const shellPath = join(bin, "bash");
    mkdirSync(bin, { recursive: true });
    copyFileSync("/bin/bash", shellPath);
    const attempts = [`rm -f '${shellPath}'`, `mv '${bin}' '${bin}2'`, "mv tools tools2"];
    for (const attempt of attempts) {
      expect(await output(`${attempt} && echo REACHED`, "workspace-write", { shellPath })).not.toContain(
        "REACHED",
      );
    }
    expect(await output("mv tools tools2 && echo REACHED", "off")).toContain("REACHED");
  });
});

describeSandboxed("variables of the loader", () => {
  const variables = { LD_DEBUG: "files", LD_DEBUG_OUTPUT: join(outside, "loaded") };
  const environment = { set: variables };
  const made = () => readdirSync(outside).filter((name) => name.startsWith("loaded."));

  test("reach the command, but no program outside the sandbox", async () => {
    const seen = await output('echo "$LD_DEBUG_OUTPUT"; /bin/true', "read-only", { environment });
    expect(seen).toContain(variables.LD_DEBUG_OUTPUT);
    expect(made()).toEqual([]);
    await output("/bin/true", "off", { environment });
    expect(made()).not.toEqual([]);
  });
});

describe("the trusted base", () => {
  test("contains the package, its dependencies, Node, its loaded libraries and bash", () => {
    const paths = ownProgram("/bin/bash").map(({ path }) => path);
    const here = join(import.meta.dirname, "../..");
    expect(paths).toContain(here);
    expect(paths.filter((path) => /node_modules\/(zod|unbash|re2js)$/.test(path))).toHaveLength(3);
    expect(paths).toContain(process.execPath);
    expect(paths.some((path) => path.endsWith("/bash"))).toBe(true);
    const roles = new Map(ownProgram(undefined).map(({ path, role }) => [role, path]));
    expect(roles.get("is Node, which nacre runs outside the sandbox")).toBe(process.execPath);
    // Every program on Linux has a loader and a C library.
    expect(paths.filter((path) => /\/(ld|libc)[^/]*\.so/.test(path))).not.toEqual([]);
  });

  test("needs no protection if it is outside every writable path", () => {
    expect(guardTrusted(ownProgram("/bin/bash"), [workspace])).toEqual({ ok: true, readOnly: [] });
  });
});
