import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { useCli } from "./run-nacre.ts";

const { nacre, nacreWith, dir } = useCli();

const HOME_AND_CWD = ["--home", "/home/dev", "--cwd", "/home/dev/proj"];

test("the exit code is 0 for allow, 3 for ask, 4 for deny", async () => {
  expect(await nacre("check", "ls -la")).toEqual({ code: 0, stdout: "allow\n", stderr: "" });
  const ask = await nacre("check", ...HOME_AND_CWD, "git reset --hard");
  expect(ask.code).toBe(3);
  expect(ask.stdout).toMatch(
    /^ask: .+[^.] \(rule git-lose-work\)\n {2}git reset --hard\n {2} *\^+\ninstead: .+\n$/,
  );
  const deny = await nacre("check", "echo hi && rm -rf /");
  expect(deny.code).toBe(4);
  expect(deny.stdout).toMatch(/^deny: .+ \(rule delete-root\)\n/);
});

test("NACRE_HOME and XDG_CONFIG_HOME in a command expand to their values in the environment", async () => {
  vi.stubEnv("XDG_CONFIG_HOME", join(dir(), "config"));
  for (const [command, path] of [
    ["cat $NACRE_HOME/ui/7411.html", "state/ui/7411.html"],
    ["touch $NACRE_HOME/approvals/x", "state/approvals/x"],
    ["cp x $XDG_CONFIG_HOME/nacre/policy.json", "config/nacre/policy.json"],
  ] as const) {
    const { code, stdout } = await nacre("check", command);
    expect(code, command).toBe(3);
    expect(stdout).toContain(join(dir(), path));
  }
});

test("--json prints the verdict", async () => {
  const { code, stdout } = await nacre("check", "--json", "rm -rf /");
  expect(code).toBe(4);
  expect(JSON.parse(stdout)).toEqual({
    verdict: "deny",
    rule: "delete-root",
    reason: expect.any(String),
    span: { start: 7, end: 8 },
    alternative: expect.any(String),
  });
});

test("--explain shows every finding, and whether bash can parse the text", async () => {
  const { stdout } = await nacre("check", ...HOME_AND_CWD, "--explain", "sudo rm -rf /");
  expect(stdout).toMatch(/^parse: ok\n/);
  expect(stdout).toMatch(/^also ask: .+[^.] \(rule elevate\)$/m);
  const broken = await nacre("check", "--explain", "echo 'open");
  expect(broken.code).toBe(3);
  expect(broken.stdout).toMatch(/^parse: not understood: /);
  const off = await nacre("check", "--policy", "off", "--explain", "rm -rf /");
  expect(off.stdout).toMatch(/^also deny: .+ \(rule delete-root, lifted by profile off\)$/m);
});

test("--jsonl treats a Unicode line separator inside a command as part of the command", async () => {
  const stdin = '{"command":"ls\u2028rm -rf /"}\n{"command":"ls"}';
  const { stdout } = await nacreWith({ stdin }, "check", "--jsonl", ...HOME_AND_CWD);
  const rules = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).rule);
  expect(rules).toEqual(["hidden-characters", null]);
});

test("--explain shows each command with its wrapper and directory", async () => {
  const { code, stdout } = await nacre("check", ...HOME_AND_CWD, "--explain", "cd src && sudo rm -r /etc");
  expect(code).toBe(4);
  expect(stdout).toContain("rm -r /etc (through sudo) in /home/dev/proj/src\n");
  expect(stdout).toMatch(/delete recursively: \/etc/);
  expect(stdout).toMatch(/^deny: /m);
  const json = await nacre("check", "--explain", "--json", "ls");
  expect(JSON.parse(json.stdout)).toMatchObject({
    commands: [{ program: "ls" }],
    verdict: { verdict: "allow" },
  });
});

test("rules come from --policy-file, the --home directory and the working directory", async () => {
  const rule = (id: string, program: string) => ({
    version: 1,
    rules: [{ id, verdict: "deny", program, matches: program }],
  });
  const put = (file: string, content: object) => {
    mkdirSync(dirname(join(dir(), file)), { recursive: true });
    writeFileSync(join(dir(), file), JSON.stringify(content));
    return join(dir(), file);
  };
  put("home/.config/nacre/policy.json", rule("no-curl", "curl"));
  put("work/.nacre/policy.json", rule("no-wget", "wget"));
  const named = put("named.json", rule("no-nc", "nc"));
  const homeAndCwd = ["--home", join(dir(), "home"), "--cwd", "work"];
  const rules = async (...words: string[]) => {
    const stdin = ["curl", "wget", "nc"].map((command) => `${JSON.stringify({ command })}\n`).join("");
    const { stdout } = await nacreWith({ stdin }, "check", "--jsonl", ...homeAndCwd, ...words);
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).rule);
  };
  expect((await rules()).slice(0, 2)).toEqual(["no-curl", "no-wget"]);
  expect((await rules("--policy-file", named)).slice(1)).toEqual(["no-wget", "no-nc"]);
  const broken = await nacre("check", "--policy-file", "gone.json", "ls");
  expect(broken).toMatchObject({ code: 1, stdout: "" });
  expect(broken.stderr).toMatch(/^nacre: The policy file .*gone\.json cannot be used/);
});

test("--policy changes the verdict", async () => {
  expect((await nacre("check", "--policy", "off", "rm -rf /")).code).toBe(0);
});

test("--jsonl judges each line in order, and answers an invalid line with an error", async () => {
  const lines = [{ command: "ls" }, { command: "rm -rf ~" }, { cmd: "ls" }, { command: "git reset --hard" }];
  const stdin = `${lines.map((line) => JSON.stringify(line)).join("\n")}\n\nno JSON`;
  const { code, stdout } = await nacreWith({ stdin }, "check", "--jsonl", ...HOME_AND_CWD);
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(answers.map(({ verdict }) => verdict)).toEqual(["allow", "deny", undefined, "ask", undefined]);
  expect(Object.keys(answers[1])).toEqual(["verdict", "rule", "reason", "span", "alternative"]);
  expect(answers[4]).toEqual({ error: expect.any(String) });
  expect(code).toBe(1);
  for (const word of ["ls", "--json", "--explain"]) {
    expect(await nacreWith({ stdin: '{"command":"ls"}\n' }, "check", "--jsonl", word)).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("--jsonl"),
    });
  }
  const good = await nacreWith({ stdin: '{"command":"rm -rf /"}\n' }, "check", "--jsonl");
  expect(good.code).toBe(0);
});

test("the output underlines the part of the command that matched the rule", async () => {
  const deny = async (command: string, columns?: number) => {
    const input = columns === undefined ? { stdin: "" } : { stdin: "", columns };
    const { stdout } = await nacreWith(input, "check", command);
    return stdout.split("\n").slice(1, 3);
  };
  expect(await deny("echo hi && rm -rf /")).toEqual(["  echo hi && rm -rf /", "                    ^"]);
  expect(await deny("echo one\nrm -rf /\necho two")).toEqual(["  rm -rf /", "         ^"]);
  const [line = "", marks = ""] = await deny(`echo ${"word ".repeat(60)}; rm -rf /; echo more`, 60);
  expect(line.length).toBeLessThanOrEqual(60);
  expect(line[marks.indexOf("^")]).toBe("/");
  // Each of these characters takes two columns.
  const [wide = "", mark = ""] = await deny(`echo ${"漢".repeat(40)} && rm -rf /; echo more`, 30);
  const before = wide.slice(0, wide.indexOf("/"));
  expect(mark.indexOf("^")).toBe(before.length + (before.match(/漢/g)?.length ?? 0));
  expect(mark.length).toBeLessThanOrEqual(30);
});
