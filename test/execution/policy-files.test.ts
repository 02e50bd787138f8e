import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PolicyFiles } from "../../src/execution/policy-files.ts";
import { createToolkit } from "../../src/toolkit.ts";
import { removeAfterRun } from "../fixtures/remove-after-run.ts";

let dir = "";
let workspace = "";
let own = "";

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "nacre-policy-"));
  workspace = join(dir, "work");
  own = join(dir, "config", "nacre", "policy.json");
  mkdirSync(workspace);
  vi.stubEnv("XDG_CONFIG_HOME", join(dir, "config"));
});

afterEach(() => {
  vi.unstubAllEnvs();
  removeAfterRun(dir);
});

const noCurl = { id: "no-curl", verdict: "deny", program: "curl", matches: ["curl x"] };
const mayClean = {
  id: "may-clean",
  verdict: "allow",
  program: "git",
  args: "clean",
  matches: "git clean -fd",
};

function put(file: string, content: unknown): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  return file;
}

const rulesOf = (...rules: object[]) => ({ version: 1, rules });
const idsOf = (files: PolicyFiles, cwd = workspace) =>
  files.rulesFor(cwd).map(({ source, rules }) => [source, ...rules.map(({ id }) => id)]);

describe("files of rules", () => {
  test("may all be missing; then there are no rules", () => expect(idsOf(new PolicyFiles({}))).toEqual([]));

  test("are read from the XDG configuration directory and from the workspace", () => {
    put(own, rulesOf(mayClean));
    put(join(workspace, ".nacre/policy.json"), rulesOf(noCurl));
    expect(idsOf(new PolicyFiles({}))).toEqual([
      ["user", "may-clean"],
      ["workspace", "no-curl"],
    ]);
  });

  test("do not come from the configuration directory if the option policyFile names another file", () => {
    put(own, rulesOf(mayClean));
    const policyFile = put(join(dir, "other.json"), rulesOf(noCurl));
    expect(idsOf(new PolicyFiles({ policyFile }))).toEqual([["user", "no-curl"]]);
  });

  test("are read from the configuration directory below the given home", () => {
    put(own, rulesOf(mayClean));
    put(join(dir, "somebody/.config/nacre/policy.json"), rulesOf(noCurl));
    expect(idsOf(new PolicyFiles({ home: join(dir, "somebody") }))).toEqual([["user", "no-curl"]]);
  });

  test("at the top of a repository apply to its subdirectories; files above the repository do not", () => {
    const below = join(workspace, "packages/api");
    mkdirSync(below, { recursive: true });
    put(join(workspace, ".nacre/policy.json"), rulesOf(noCurl));
    put(join(dir, ".nacre/policy.json"), rulesOf({ ...noCurl, id: "above" }));
    expect(idsOf(new PolicyFiles({}), below)).toEqual([]);
    mkdirSync(join(workspace, ".git"));
    expect(idsOf(new PolicyFiles({}), below)).toEqual([["workspace", "no-curl"]]);
  });

  test("are read once, so later changes have no effect", () => {
    const file = put(join(workspace, ".nacre/policy.json"), rulesOf(noCurl));
    const files = new PolicyFiles({});
    expect(idsOf(files)).toHaveLength(1);
    rmSync(file);
    put(own, rulesOf(mayClean));
    expect(idsOf(files)).toEqual([["workspace", "no-curl"]]);
  });

  test("may be replaced by rules in an option", () => {
    expect(idsOf(new PolicyFiles({ rules: [{ ...noCurl, verdict: "deny" }] }))).toEqual([
      ["user", "no-curl"],
    ]);
    const wrong = new PolicyFiles({ rules: [{ ...noCurl, verdict: "deny", matches: ["wget x"] }] });
    expect(() => wrong.rulesFor(workspace)).toThrow(
      'The option rules cannot be used.\n  Rule no-curl: it does not match its own example "wget x".',
    );
  });
});

describe("an error with the problem, the line and a remedy is thrown if", () => {
  const failure = (files = new PolicyFiles({})) => {
    try {
      files.rulesFor(workspace);
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
    return "no failure";
  };

  test("the named file does not exist", () => {
    const policyFile = join(dir, "gone.json");
    expect(failure(new PolicyFiles({ policyFile }))).toBe(
      `The policy file ${policyFile} cannot be used, and without it nothing is run.\n  There is no such file. Create it, or remove it from the settings.`,
    );
  });

  test("the file is not JSON", () => {
    put(own, '{\n  "version": 1,\n  "rules": [,]\n}');
    expect(failure()).toMatch(/policy\.json cannot be used, .*\n {2}line 3: It is not JSON: /);
    put(own, "");
    expect(failure()).toContain("It is not JSON");
  });

  test("a field is invalid", () => {
    put(own, rulesOf(mayClean, { ...noCurl, verdict: "maybe" }));
    expect(failure()).toMatch(/\n {2}line 13: Rule no-curl: verdict must be allow, ask or deny\.$/);
  });

  test("an example of a rule fails", () => {
    put(own, rulesOf({ ...noCurl, matches: ["wget x"] }));
    expect(failure()).toMatch(/\n {2}line 8: Rule no-curl: it does not match its own example "wget x"\.$/);
  });

  test("the file is in the workspace and contains an allow rule", () => {
    put(join(workspace, ".nacre/policy.json"), rulesOf(mayClean));
    expect(failure()).toMatch(/\n {2}line 6: Rule may-clean: a file in the workspace can only ask and deny/);
  });

  test("the file is a directory or a pipe, or larger than any real rule file", () => {
    mkdirSync(own, { recursive: true });
    expect(failure()).toContain(
      "It cannot be read: it is not a file. Make it a readable file, or remove it.",
    );
    rmSync(own, { recursive: true });
    execFileSync("mkfifo", [own]);
    expect(failure()).toContain("it is not a file");
    rmSync(own);
    put(own, " ".repeat(2 ** 20 + 1));
    expect(failure()).toContain("it is larger than 1048576 bytes");
  });

  test.skipIf(process.getuid?.() === 0)(
    "the user may not read the file (skipped as root, which can read it)",
    () => {
      chmodSync(put(own, rulesOf(noCurl)), 0o000);
      expect(failure()).toContain("It cannot be read: EACCES");
    },
  );
});

describe("a toolkit", () => {
  test("applies the rules of the user and of the workspace", async () => {
    put(own, rulesOf(mayClean));
    put(join(workspace, ".nacre/policy.json"), rulesOf(noCurl));
    await using kit = await createToolkit({
      workingDir: workspace,
      stateRoot: join(dir, "state"),
      poolSize: 0,
    });
    expect(kit.check("git clean -fd").verdict).toBe("allow");
    expect(await kit.call("Bash", { command: "curl --version" })).toMatchObject({
      code: "policy_denied",
      error: expect.stringContaining("(rule no-curl)"),
    });
  });

  test("does not start with an invalid file", async () => {
    put(own, "no");
    await expect(createToolkit({ workingDir: workspace, stateRoot: join(dir, "state") })).rejects.toThrow(
      `The policy file ${own} cannot be used`,
    );
  });
});
