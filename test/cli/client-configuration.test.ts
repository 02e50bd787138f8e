// The messages of init, and the layout of the files that it changes.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();

beforeEach(() => {
  mkdirSync(join(dir(), "bin"));
  writeFileSync(join(dir(), "bin/nacre"), "#!/bin/sh\n");
  chmodSync(join(dir(), "bin/nacre"), 0o755);
  vi.stubEnv("PATH", `${join(dir(), "bin")}:${process.env["PATH"]}`);
  vi.stubEnv("HOME", dir());
  vi.stubEnv("XDG_CONFIG_HOME", join(dir(), "config"));
  vi.stubEnv("CODEX_HOME", join(dir(), "codex"));
});

describe("the hint of init about the options that write the file", () => {
  test.each([
    [["codex"], "(--write --user adds it to this file)"],
    [["codex", "--user"], "(--write --user adds it to this file)"],
    [["cursor", "--user"], "(--write --user adds it to this file)"],
    [["cursor"], "(--write adds it to this file)"],
  ])("for %j is: %s", async (words, hint) => {
    expect((await nacre("init", ...words)).stderr).toContain(hint);
  });

  test("names options that write the file", async () => {
    expect((await nacre("init", "codex", "--write", "--user")).code).toBe(0);
    expect(existsSync(join(dir(), "codex/config.toml"))).toBe(true);
  });
});

test.each(["9000", "[::1]:9000"])(
  "--http %s is refused, because a client starts the server over stdio",
  async (port) => {
    for (const words of [
      ["--http", port],
      [`--http=${port}`, "--durable"],
    ]) {
      const { code, stdout, stderr } = await nacre("init", "cursor", "--write", "--", ...words);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(`Start \`nacre mcp --http ${port}\` yourself`);
      expect(stderr).toContain("url");
      expect(existsSync(join(dir(), ".cursor"))).toBe(false);
    }
  },
);

test("the next step names the directory only for a project file", async () => {
  for (const client of ["claude-code", "opencode"]) {
    expect((await nacre("init", client, "--write")).stderr).toContain(" in this directory");
    const user = await nacre("init", client, "--write", "--user");
    expect(user.stderr).toContain("Start ");
    expect(user.stderr).not.toContain("in this directory");
  }
});

describe("a settings file with an error", () => {
  test.each([
    ['{\n  "a": 1', "at line 2: a closing } is missing"],
    ['{\n  "a": [1\n}', "at line 3: a comma or a closing bracket is missing"],
    ['{ "a" 1 }', "at line 1: a colon is missing"],
    ['{ "a": 1\n"b": 2 }', "at line 2: a comma or a closing bracket is missing"],
    ['{ "a": }', "at line 1: a value is missing"],
    ["{ a: 1 }", "at line 1: a word is not in quotes"],
    ['{ "a": "b\n}', "at line 1: a string has no closing quote"],
  ])("%j is not changed, and the message says: %s", async (text, words) => {
    const file = join(dir(), ".gemini/settings.json");
    mkdirSync(dirname(file));
    writeFileSync(file, text);
    const { code, stderr } = await nacre("init", "gemini", "--write");
    expect(code).toBe(1);
    expect(stderr).toContain(`${file} was not changed: it is not valid JSON ${words}.`);
    expect(readFileSync(file, "utf8")).toBe(text);
  });
});

describe("the new entry is on lines of its own", () => {
  async function written(before: string): Promise<string> {
    mkdirSync(join(dir(), ".vscode"));
    const file = join(dir(), ".vscode/mcp.json");
    writeFileSync(file, before);
    expect((await nacre("init", "vscode", "--write")).code).toBe(0);
    return readFileSync(file, "utf8");
  }
  const entry =
    '"nacre": {\n      "type": "stdio",\n      "command": "nacre",\n      "args": [\n        "mcp"\n      ]\n    }';

  test.each([
    [
      "other entries on one line",
      '{\n  "servers": { "x": {"command": "y"}, }\n}\n',
      `{\n  "servers": {\n    ${entry},\n    "x": {"command": "y"},\n  }\n}\n`,
    ],
    [
      "a file of one line",
      '{"servers":{"x":{"command":"y"}}}',
      `{"servers":{\n    ${entry},\n    "x":{"command":"y"}\n  }}`,
    ],
    [
      "a comment after the last entry",
      '{\n  "servers": { "x": {"command": "y"} /* mine */ }\n}\n',
      `{\n  "servers": {\n    ${entry},\n    "x": {"command": "y"} /* mine */\n  }\n}\n`,
    ],
    [
      "other entries on lines of their own",
      '{\n  "servers": {\n    "x": {"command": "y"}\n  }\n}\n',
      `{\n  "servers": {\n    ${entry},\n    "x": {"command": "y"}\n  }\n}\n`,
    ],
    ["no servers yet", '{ "inputs": [] }\n', `{\n  "servers": {\n    ${entry}\n  },\n  "inputs": []\n}\n`],
  ])("%s", async (_, before, after) => {
    expect(await written(before)).toBe(after);
  });
});
